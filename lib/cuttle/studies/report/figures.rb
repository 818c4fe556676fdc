# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # The figures of a metric for readers, with units.
      module Figures
        FORMS = { "rate" => ->(value) { Numbers.rate(value) }, "memory" => ->(value) { Numbers.size(value * 1e6) },
                  "cpu" => ->(value) { Numbers.microseconds(value) }, "errors" => ->(value) { Figures.share(value) },
                  "spread" => ->(value) { Numbers.ratio(value) } }.freeze
        TIME = ->(value) { Numbers.milliseconds(value) } # all other metrics
        TICKS = { "rate" => ->(value) { Numbers.tick_count(value) }, "spread" => ->(value) { Numbers.short(value) },
                  "memory" => ->(value) { Numbers.tick_size(value * 1e6) },
                  "cpu" => ->(value) { Numbers.tick_time(value / 1e3) },
                  "errors" => ->(value) { "#{Numbers.short(value * 100)}%" } }.freeze
        TICK_TIME = ->(value) { Numbers.tick_time(value) }
        TOO_LITTLE = "too little was measured"
        FORECAST = "Forecast by the model of `cuttle tune`, not measured"

        module_function

        # The text of a number, or of a published range [low, high].
        def text(metric, value)
          return Numbers::NONE unless value
          return value.map { |each| text(metric, each) }.join(" to ") if value.is_a?(Array)

          FORMS.fetch(metric, TIME).call(value)
        end

        # The label of a tick on an axis.
        def tick(metric, value)
          TICKS.fetch(metric, TICK_TIME).call(value)
        end

        # "3.31 (3.28 to 3.35)" of a Lab estimate.
        def estimate(metric, found)
          interval = Numbers.interval(found) { |value| text(metric, value) }
          "#{text(metric, found&.value)}#{" (#{interval})" if interval}"
        end

        # The same for a ratio. The share of errors that never occurred has only an upper bound.
        def ratio(found)
          return TOO_LITTLE unless found
          return "at most #{Numbers.ratio(found.high)}" if found.value&.zero?

          interval = Numbers.interval(found, :ratio)
          "#{Numbers.ratio(found.value)}#{" (#{interval})" if interval}"
        end

        # A statement's ratio, and its expected range.
        def statement(statement, found)
          "#{statement.text}: #{ratio(found)}, expected #{statement.bounds}"
        end

        # Why a claim could not be tested, how it can be tested, and the model's forecast if there is one.
        def reason(verdict)
          [verdict.reason, *elsewhere(verdict), *forecast(verdict)].join(". ")
        end

        # The command for a machine that has the missing cores; nil if something else is missing.
        def elsewhere(verdict)
          claim = verdict.claim
          "On a machine of #{claim.cores + 1} cores or more: `cuttle study #{claim.id}`" if verdict.forecast
        end

        # "A forecast by `cuttle tune`'s model: 2 processes by one: 1.96, expected 1.8 to 2.2"; nil without a forecast.
        def forecast(verdict)
          told = (verdict.forecast || []).select(&:last)
          texts = told.map { |each, ratio| "#{each.text}: #{Numbers.ratio(ratio)}, expected #{each.bounds}" }
          "#{FORECAST}: #{texts.join("; ")}" if texts.any?
        end

        # The title of a metric, without the unit.
        def title(metric)
          Metric.fetch(metric).title.sub(/,.*/, "")
        end

        # LEAST stands for 0, because a ratio needs a number above 0.
        def share(value)
          value <= Metric::LEAST ? "0" : "#{Numbers.short(value * 100)}%"
        end
      end
    end
  end
end
