# frozen_string_literal: true

module Bench
  class Tuning
    AIMS = { choice: 0.97, cost: 0.1, rate: 0.05, p95: 0.15, held: 0.9 }.freeze

    # A figure that the tune gave for a setting, and what the grid found. kind: :rate or :p95 (predicted from the
    # profile alone), :predicted or :measured (printed in the answer). told, found: Estimates.
    Figure = Struct.new(:setting, :kind, :name, :told, :found) do
      # |log(found / told)|
      def miss
        log(found.value, told.value).abs
      end

      # Whether the interval is not wrong as far as the grid can show: the grid's own scatter widens it.
      def held?
        miss <= Math.hypot(*(more? ? [up(told), down(found)] : [down(told), up(found)]))
      end

      # Whether the grid's value is within the interval, as if the grid had no scatter.
      def within?
        found.value.between?(told.low, told.high)
      end

      private

      def more?
        found.value > told.value
      end

      # How far the interval goes beyond the value; 0 without an interval.
      def up(estimate) = log(estimate.high || estimate.value, estimate.value)
      def down(estimate) = log(estimate.value, estimate.low || estimate.value)

      def log(one, other)
        Math.log(one / other)
      end
    end

    # The grid of an app compared with its tune.
    class Findings
      # advice: the tune's. profile: Profile. results: Lab::Results of the grid. seconds: that the tune took, or nil.
      # model: makes a model of a profile.
      def initialize(advice, profile, results, seconds, model: Tuner::Model.method(:new))
        @model = model
        @advice = advice
        @profile = profile
        @results = results
        @verified = Tuner::Verified.new(results)
        @seconds = seconds
      end

      # The report: lines.
      def to_s
        [*predicted.map { |figure| line(figure) }, "", best, effort, *Summary.accuracy(figures)].compact.join("\n")
      end

      # The choice's capacity / that of the best setting; nil if the grid did not measure the choice.
      def share
        own = capacities[choice] and own / capacities.values.max
      end

      # The seconds of the tune / those of the grid, or nil.
      def cost
        @seconds && (@seconds / grid_seconds)
      end

      # All Figures.
      def figures
        predicted + printed
      end

      private

      def choice
        @advice.choice.setting
      end

      def capacities
        @capacities ||= @verified.measurements.transform_values { |each| each.capacity.value }
      end

      # The predictions of the profile alone, without the verification's corrections.
      def predicted
        @predicted ||= begin
          plain = @profile.with(corrections: [])
          model, margin = @model.call(plain), Tuner::Margin.new(plain)
          @verified.measurements.flat_map do |setting, found|
            closed = model.forecast(setting, Tuner::Demand.closed(@verified.connections), cores: @advice.here)
            open = model.forecast(setting, Tuner::Demand.open(@verified.rate), cores: @advice.here)
            rate = margin.around(:capacity, Tuner::Forecast.new(**closed.to_h, capacity: closed.rate))
            [Figure.new(setting, :rate, :rate, rate, found.capacity),
             Figure.new(setting, :p95, :p95, margin.around(:p95, open), found.p95)]
          end.select { |figure| comparable?(figure) }
        end
      end

      # The figures that the answer has an interval for: of the choice, the present setting and the alternatives.
      def printed
        outcomes = [@advice.choice, @advice.present, *@advice.alternatives].compact.uniq(&:setting)
        outcomes.select { |each| each.demand.rate == @verified.rate }.flat_map do |outcome|
          found = @verified.measurements[outcome.setting] or next []
          kind = outcome.measured ? :measured : :predicted
          %i[capacity p50 p95 p99].map { |name| Figure.new(outcome.setting, kind, name, outcome[name], found[name]) }
        end.select { |figure| comparable?(figure) }
      end

      def comparable?(figure)
        figure.told&.interval? && figure.told.value.finite? && !figure.found.nil?
      end

      def line(figure)
        format("%-20s %-5s predicted %9.4f, measured %9.4f, ratio %.3f", figure.setting.name, figure.name,
               figure.told.value, figure.found.value, figure.found.value / figure.told.value)
      end

      def best
        return "choice: the grid has no valid run of #{choice.name}" unless share

        format("choice: %s serves %.1f/s, %.1f%% of the best of %d settings, %s (aim: at least %d%%)", choice.name,
               capacities[choice], share * 100, capacities.length, capacities.key(capacities.values.max).name,
               AIMS[:choice] * 100)
      end

      def effort
        cost && format("cost: the tune took %.0f s, %.0f%% of the grid's %.0f s (aim: at most %d%%)", @seconds,
                       cost * 100, grid_seconds, AIMS[:cost] * 100)
      end

      # Each start of a server has two runs, one for each load.
      def grid_seconds
        runs = @results.runs.length
        (runs * (@results.duration + @results.warmup)) + (runs / 2 * (@profile.boot || 1))
      end
    end

    # The findings of several apps, together.
    class Summary
      TITLES = { rate: "rate", p95: "p95", predicted: "answer, predicted", measured: "answer, measured" }.freeze

      # Lines on how right the Figures are.
      def self.accuracy(figures)
        TITLES.filter_map do |kind, title|
          group = figures.select { |figure| figure.kind == kind }
          "#{title}: #{[count(group), misses(kind, group), held(group)].compact.join("; ")}" if group.any?
        end
      end

      def self.count(group)
        "#{group.length} figures"
      end

      def self.misses(kind, group)
        misses = group.map(&:miss).sort
        middle, most = [Lab::Statistics.median(misses), misses.last].map { |miss| (Math.exp(miss) - 1) * 100 }
        aim = format(" (aim: %d%%)", AIMS[kind] * 100) if AIMS.key?(kind)
        format("off by %.1f%% in the median%s, %.1f%% at most", middle, aim, most)
      end

      def self.held(group)
        held, within = %i[held? within?].map { |question| group.count(&question) * 100 / group.length }
        format("%d%% of the intervals hold (aim: %d%%), %d%% contain the grid's value", held, AIMS[:held] * 100, within)
      end

      private_class_method :count, :misses, :held

      # findings: name of the app => Findings.
      def initialize(findings)
        @findings = findings
      end

      # Lines; empty for a single app, which has said everything.
      def to_s
        return "" if @findings.length < 2

        ["", "== #{@findings.length} apps", *worst(:share, :choice, "choice: at least", "of the best", :min_by),
         *worst(:cost, :cost, "cost: at most", "of the grid's", :max_by),
         *Summary.accuracy(@findings.values.flat_map(&:figures))].join("\n")
      end

      private

      # A line on the app with the worst value, unless no app has one.
      def worst(value, aim, title, of, way)
        known = @findings.transform_values(&value).compact
        return if known.empty?

        name, share = known.public_send(way, &:last)
        format("%s %.1f%% %s (%s; aim: %s %d%%)", title, share * 100, of, name, title[/at .*/], AIMS[aim] * 100)
      end
    end
  end
end
