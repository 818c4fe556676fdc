# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # Where a monotone condition changes.
      module Search
        module_function

        # The smallest number from 0 for which the block is true, as closely as Floats tell. It must become true.
        def real(start = 1.0)
          high = start
          high *= 2 until yield high
          low = 0.0
          200.times do
            middle = (low + high) / 2
            break if middle <= low || middle >= high

            yield(middle) ? high = middle : low = middle
          end
          high
        end

        # The smallest Integer of +range+ for which the block is true, or nil.
        def integer(range, &condition)
          range.bsearch(&condition)
        end
      end
    end
  end
end
