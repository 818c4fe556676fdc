# frozen_string_literal: true

module Cuttle
  module Lab
    module Statistics
      # The normal distribution.
      module Normal
        module_function

        # P(Z < z)
        def below(z)
          Math.erfc(-z / Math.sqrt(2)) / 2
        end
      end
    end
  end
end
