# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # The figures of a metric for readers, with units.
      module Figures
        SIZE = ->(value) { Numbers.size(value * 1e6) }
        FORMS = { "rate" => ->(value) { Numbers.rate(value) }, "memory" => SIZE, "resident" => SIZE,
                  "cpu" => ->(value) { Numbers.microseconds(value) }, "errors" => ->(value) { Figures.share(value) },
                  "spread" => ->(value) { Numbers.ratio(value) } }.freeze
        TIME = ->(value) { Numbers.milliseconds(value) } # all other metrics
        TICK_SIZE = ->(value) { Numbers.tick_size(value * 1e6) }
        TICKS = { "rate" => ->(value) { Numbers.tick_count(value) }, "spread" => ->(value) { Numbers.short(value) },
                  "memory" => TICK_SIZE, "resident" => TICK_SIZE,
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

        # The same for a ratio.
        def ratio(found)
          return TOO_LITTLE unless found

          interval = Numbers.interval(found, :ratio)
          "#{Numbers.ratio(found.value)}#{" (#{interval})" if interval}"
        end

        # What was measured of a statement: a ratio, or a share of errors. A number that rounds to a bound of the
        # statement has more digits.
        def measured(statement, found)
          return TOO_LITTLE unless found
          return errors(statement, found) if statement.of_errors?

          interval = Numbers.interval(found) { |value| beside(statement.range, value) }
          "#{beside(statement.range, found.value)}#{" (#{interval})" if interval}"
        end

        # The expected range of a statement.
        def expected(statement)
          shares = ->(bound) { share(bound * statement.below) } if statement.of_errors?
          "expected #{statement.bounds(&shares)}"
        end

        # What was measured of a Tested statement, and its expected range; or why it could not be tested.
        def tested(tested)
          statement = tested.statement
          return "#{statement.text}: #{tested.reason}" if tested.reason

          "#{statement.text}: #{measured(statement, tested.found)}, #{expected(statement)}"
        end

        # Why a claim could not be tested, or parts of it; how these can be tested, and the model's forecast if there is
        # one; nil if all of it was tested.
        def reason(verdict)
          texts = [*verdict.reason, *elsewhere(verdict), *forecast(verdict)]
          texts.join(". ") if texts.any?
        end

        # The command for a machine that has the missing cores; nil if something else is missing.
        def elsewhere(verdict)
          claim = verdict.claim
          "On a machine of #{claim.most_cores + 1} cores or more: `cuttle study #{claim.id}`" if verdict.forecast
        end

        # "A forecast by `cuttle tune`'s model: 2 processes by one: 1.96, expected 1.8 to 2.2"; nil without a forecast.
        def forecast(verdict)
          told = (verdict.forecast || []).select(&:last)
          texts = told.map { |each, ratio| "#{each.text}: #{Numbers.ratio(ratio)}, #{expected(each)}" }
          "#{FORECAST}: #{texts.join("; ")}" if texts.any?
        end

        # "2.00", but "1.997" if 2 is a bound.
        def beside(range, value)
          text = Numbers.ratio(value)
          bounds = [range.begin, range.end].compact.map { |bound| Numbers.ratio(bound) }
          bounds.include?(text) ? format("%.4g", value) : text
        end

        # "36.8% (33.1% to 40.9%)". A share that never occurred has only an upper bound.
        def errors(statement, found)
          shares = [found.value, found.low, found.high].map { |value| share(value * statement.below) if value }
          return "at most #{shares.last}" if found.value.zero?

          "#{shares.first}#{" (#{shares[1]} to #{shares[2]})" if found.interval?}"
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
