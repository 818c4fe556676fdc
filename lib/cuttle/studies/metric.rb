# frozen_string_literal: true

module Cuttle
  module Studies
    # A metric of a run.
    #
    #   name, title   in declarations and tables; the title has the unit, except for times in ms
    #   kind          :rate and :time are converted to full length if a Scale shortened the requests; :plain is not
    #   reader        called with a Lab::Results::Run and the number of serving processes, returns a number or nil
    class Metric < Struct.new(:name, :title, :kind, :reader)
      LEAST = 1e-6 # least value of a share, because ratios need a number above 0

      class << self
        # Raises KeyError.
        def fetch(name)
          ALL.fetch(name)
        end

        def names
          ALL.keys
        end

        # The CPU time of the busiest worker / an equal share: 1 if all used the same. A supervisor beside the workers
        # uses little.
        def spread(run, workers)
          seconds = run.server["cpu_by_process"]&.max(workers)
          seconds.max * workers / seconds.sum if seconds&.length == workers && seconds.sum.positive?
        end
      end

      # 50 for p50; nil if the metric is no percentile.
      def percentile
        name[/\Ap(\d+)\z/, 1]&.to_i
      end

      # The measured value of a run, or nil.
      def value(run, workers)
        reader.call(run, workers)
      end

      # The factor that converts a number measured at that Scale to full length.
      def factor(scale)
        { rate: scale.factor, time: 1 / scale.factor }.fetch(kind, 1.0)
      end

      # Whether a run is valid for this metric. Wrong answers spoil every metric but their own number.
      def tells?(run)
        run.valid? || (name == "errors" && run.reasons.all? { |reason| reason.start_with?("wrong answers") })
      end

      ALL = [
        new("rate", "requests/s", :rate, ->(run, _) { run.rate }),
        *%w[mean p50 p90 p99].map { |each| new(each, each, :time, ->(run, _) { run.time(each) }) },
        new("memory", "memory, MB", :plain, ->(run, _) { run.server["pss_total"] / 1e6 }),
        new("resident", "resident sizes, MB", :plain, ->(run, _) { run.server["rss_total"]&.fdiv(1e6) }),
        new("cpu", "CPU time, us", :plain, ->(run, _) { run.server["cpu_us"] }),
        new("errors", "errors", :plain, ->(run, _) { [run.failures.fdiv([run.sent.to_i, 1].max), LEAST].max }),
        new("spread", "busiest worker", :plain, ->(run, workers) { spread(run, workers) })
      ].to_h { |metric| [metric.name, metric] }.freeze
    end
  end
end
