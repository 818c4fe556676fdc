# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # Figures of a metric as people read them, with their units.
      module Figures
        NUMBERS = Lab::Report::Numbers
        FORMS = { "rate" => ->(value) { NUMBERS.rate(value) }, "memory" => ->(value) { NUMBERS.size(value * 1e6) },
                  "cpu" => ->(value) { NUMBERS.microseconds(value) }, "errors" => ->(value) { Figures.share(value) },
                  "spread" => ->(value) { NUMBERS.ratio(value) } }.freeze
        TIME = ->(value) { NUMBERS.milliseconds(value) } # all others

        module_function

        # Of a number, or of the [low, high] that was published.
        def text(metric, value)
          return NUMBERS::NONE unless value
          return value.map { |each| text(metric, each) }.join(" to ") if value.is_a?(Array)

          FORMS.fetch(metric, TIME).call(value)
        end

        # "3.31 (3.28 to 3.35)" of a Lab estimate.
        def estimate(metric, found)
          interval = NUMBERS.interval(found) { |value| text(metric, value) }
          "#{text(metric, found&.value)}#{" (#{interval})" if interval}"
        end

        # The same of a ratio.
        def ratio(found)
          interval = NUMBERS.interval(found, :ratio)
          "#{NUMBERS.ratio(found&.value)}#{" (#{interval})" if interval}"
        end

        # Without its unit, which figures have.
        def title(metric)
          Metric.fetch(metric).title.sub(/,.*/, "")
        end

        # Below what a ratio can be made of there were none.
        def share(value)
          value <= Metric::LEAST ? "0" : "#{NUMBERS.short(value * 100)}%"
        end
      end
    end
  end
end
