# frozen_string_literal: true

module Cuttle
  module Studies
    # What can be told of a run.
    #
    #   name, title   as declarations and tables have it; title with its unit, which of times is ms
    #   kind          :rate and :time are told as at full length where a Scale shortened the requests; :plain is not
    #   reader        called with a Lab::Results::Run and the number of processes that serve, returns a number or nil
    class Metric < Struct.new(:name, :title, :kind, :reader)
      LEAST = 1e-6 # of a share: ratios need a number above 0

      class << self
        # Raises KeyError.
        def fetch(name)
          ALL.fetch(name)
        end

        def names
          ALL.keys
        end

        # Where there are too few responses for a percentile, what they have: the blocks tell what is in doubt.
        def time(run, name)
          run.time(name) || of_few(run.histogram, fetch(name).percentile)
        end

        # The busiest worker's CPU time by that of an equal share: 1 where all had the same. Beside the workers there
        # may be a supervisor, which does little.
        def spread(run, workers)
          seconds = run.server["cpu_by_process"]&.max(workers)
          seconds.max * workers / seconds.sum if seconds&.length == workers && seconds.sum.positive?
        end

        private

        def of_few(histogram, percentile)
          histogram.value_at(percentile) / 1e6 if percentile && histogram&.count&.positive?
        end
      end

      # 50 of p50; nil of what is no percentile.
      def percentile
        name[/\Ap(\d+)\z/, 1]&.to_i
      end

      # Of a run, as it was measured; or nil.
      def value(run, workers)
        reader.call(run, workers)
      end

      # By what a number that was measured at that Scale is multiplied, to be as at full length.
      def factor(scale)
        { rate: scale.factor, time: 1 / scale.factor }.fetch(kind, 1.0)
      end

      # Whether it may be told of that run: wrong answers spoil everything but their own number.
      def tells?(run)
        run.valid? || (name == "errors" && run.reasons.all? { |reason| reason.start_with?("wrong answers") })
      end

      ALL = [
        new("rate", "requests/s", :rate, ->(run, _) { run.rate }),
        *%w[mean p50 p90 p99].map { |each| new(each, each, :time, ->(run, _) { time(run, each) }) },
        new("memory", "memory, MB", :plain, ->(run, _) { run.server["pss_total"] / 1e6 }),
        new("cpu", "CPU time, us", :plain, ->(run, _) { run.server["cpu_us"] }),
        new("errors", "errors", :plain, ->(run, _) { [run.failures.fdiv([run.sent.to_i, 1].max), LEAST].max }),
        new("spread", "busiest worker", :plain, ->(run, workers) { spread(run, workers) })
      ].to_h { |metric| [metric.name, metric] }.freeze
    end
  end
end
