# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # Holm's correction (1979): however many of the hypotheses are true, with a chance of at most the level even one
      # of them is rejected. It asks nothing of how the tests depend on each other.
      module Holm
        module_function

        # Adjusted p-values, in the order of +ps+.
        def adjust(ps)
          least = 0.0
          adjusted = Array.new(ps.length)
          ps.each_index.sort_by { |index| ps[index] }.each_with_index do |index, rank|
            adjusted[index] = least = [least, [1.0, ps[index] * (ps.length - rank)].min].max
          end
          adjusted
        end

        # The level at which each of +ps+ was tested in the end, while the family is held to +level+: the more of the
        # others are rejected, the less is to be shared.
        def levels(ps, level)
          rejected = adjust(ps).map { |p| p <= level }
          rejected.map { |own| level / (rejected.count(false) + (own ? 1 : 0)) }
        end
      end
    end
  end
end
