# frozen_string_literal: true

module Cuttle
  module Tuner
    module Report
      # Figures and their intervals, as words.
      module Values
        module_function

        # "1.18 (1.15 to 1.21)"
        def gain(ratio)
          estimate(ratio, :ratio)
        end

        # "83.1 (77.0 to 86.6)"; without an interval if none is known. as: how Numbers writes each value.
        def estimate(estimate, as)
          return Numbers::NONE unless estimate
          return "without end" unless estimate.value.finite?

          "#{Numbers.public_send(as, estimate.value)}#{interval(estimate, as)}"
        end

        def interval(estimate, as)
          text = Numbers.interval(estimate, as)
          text ? " (#{text})" : ""
        end

        # Of an overloaded server, response times have no end.
        def time(seconds)
          seconds.finite? ? Numbers.seconds(seconds) : "without end"
        end

        def percent(share)
          "#{(share * 100).round}%"
        end
      end
    end
  end
end
