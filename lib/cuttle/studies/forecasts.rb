# frozen_string_literal: true

module Cuttle
  module Studies
    # Predictions of the tuner's model, for Cuttle, for claims that need more cores than the study had. A
    # measured condition gives the CPU time of a request. The least loaded condition with the same request gives the
    # time that a request waits. The model computes the effect of more cores.
    #
    # Rule: a forecast is not evidence. It gives no verdict, and reports mark it as a forecast.
    class Forecasts
      # A metric's name => the forecast's value in the metric's unit.
      FIGURES = { "rate" => lambda(&:rate), "p50" => ->(forecast) { forecast.p50 * 1000 },
                  "p99" => ->(forecast) { forecast.p99 * 1000 } }.freeze

      def initialize(findings)
        @findings = findings
        @runs = {} # of simulations
      end

      # [[Statement, ratio or nil], …] for statements of a claim: nil if the model does not have a figure, or if it was
      # not measured here.
      def of(claim, statements)
        statements.map { |statement| [statement, ratio(statement, statement.cores || claim.cores)] }
      end

      private

      def ratio(statement, cores)
        above, below = [statement.above, statement.below].map do |figure|
          figure.is_a?(Claim::Figure) ? value(figure, cores) : figure
        end
        above / below if above && below
      end

      # The value at full length, like findings.
      def value(figure, cores)
        condition = condition(figure)
        return unless condition && FIGURES.key?(figure.metric)

        profile = profile(condition) or return
        forecast = Tuner::Model.new(profile, runs: @runs).forecast(setting(condition), demand(condition), cores: cores)
        FIGURES.fetch(figure.metric).call(forecast) * @findings.factor(condition, Metric.fetch(figure.metric))
      end

      def condition(figure)
        @findings.study.entries_of(figure.id, figure.columns).flat_map(&:conditions)
                 .find { |condition| ours?(condition) }
      end

      def ours?(condition)
        condition.server == Findings::OURS && condition.delay.nil?
      end

      # The measurements of a request; nil if there are none.
      def profile(condition)
        cpu = cpu(condition) or return
        wait = wait(condition) or return
        Tuner::Profile.new(entries: [{ name: condition.request.to_s, cpu: cpu, wait: wait }],
                           environment: @findings.results.environment)
      end

      # Seconds that a request waits. With so few connections, each slot is free or has a request that computes or
      # waits.
      def wait(asked)
        same = @findings.study.conditions.select { |each| alike?(each, asked) && ours?(each) && each.rate.nil? }
        condition = same.select { |each| @findings.runs(each).any? }
                        .min_by { |each| [each.connections, each.processes] }
        cpu = condition && cpu(condition) or return

        under_way = [condition.connections, setting(condition).then { |found| found.processes * found.slots }].min
        [under_way.fdiv(median(condition, &:rate)) - cpu, 0.0].max
      end

      # Whether both have the same request, of the same length.
      def alike?(one, other)
        one.request == other.request && one.full_length == other.full_length
      end

      # Seconds of CPU time per response.
      def cpu(condition)
        median(condition) { |run| run.server&.fetch("cpu_us", nil)&.fdiv(1e6) }
      end

      def median(condition, &block)
        values = @findings.runs(condition).filter_map(&block)
        Lab::Statistics.median(values) if values.any?
      end

      # The setting with as many threads as connections.
      def setting(condition)
        threads = condition.threads.positive? ? condition.threads : condition.connections
        Tuner::Setting.new(engine: condition.model, workers: condition.workers, threads: threads)
      end

      def demand(condition)
        return Tuner::Demand.closed(condition.connections) unless condition.rate

        Tuner::Demand.open(condition.load(scale)["rate"])
      end

      def scale
        @findings.scale
      end
    end
  end
end
