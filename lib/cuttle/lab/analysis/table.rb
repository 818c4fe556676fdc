# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # A configuration under a load, summarized over its valid runs. Its values are nil if it has no valid run.
      #
      # rate: Estimate, responses/s. p50, p95, p99: Estimate in ms, nil if there are too few responses. typical: what is
      # compared between configurations (see Measure). cpu_us: CPU time of the server for each response, microseconds.
      # switches: voluntary context switches for each response. pss_total and pss_worker: octets. boot: seconds until
      # the first answer. (From typical to here, medians over the runs, or nil.) overloaded: see Overload. error_share:
      # share of the requests that failed. errors: number of failures over all runs, valid or not.
      Row = Struct.new(:configuration, :load, :rate, :p50, :p95, :p99, :typical, :cpu_us, :switches, :pss_total,
                       :pss_worker, :boot, :overloaded, :errors, :error_share, :valid_runs, :invalid_runs, :failed_runs,
                       :unsteady_runs, :reasons, keyword_init: true) do
        # Whether at least 99% of the requests succeeded. Otherwise the rate is mostly a rate of errors.
        def sound?
          error_share < Row::FAULTY
        end

        def measured?
          valid_runs.positive?
        end

        alias_method :overloaded?, :overloaded

        # Whether its figures can be compared with others.
        def comparable?
          measured? && sound? && !overloaded?
        end

        # Whether they can, and every run was made and is valid.
        def flawless?
          comparable? && (invalid_runs + failed_runs).zero?
        end
      end
      Row::FAULTY = 0.01

      # Makes the rows of a lab's table.
      module Table
        ENOUGH = 10 # least number of responses beyond a percentile, as in Load::Result

        module_function

        # In the plan's order, load by load.
        def rows(results)
          results.loads.product(results.configurations).filter_map do |load, configuration|
            runs = results.runs(configuration: configuration, load: load)
            failed = results.failures.select { |each| [each.configuration, each.load] == [configuration.id, load.id] }
            next if runs.empty? && failed.empty?

            row(results, configuration, load, runs, failed.length)
          end
        end

        def row(results, configuration, load, runs, failed)
          valid, invalid = runs.partition(&:valid?)
          Row.new(configuration: configuration, load: load, **speed(valid), **costs(valid, configuration),
                  **faults(runs), **validity(valid, invalid), failed_runs: failed,
                  typical: median(valid.map { |run| Measure.of(load).value(run) }),
                  overloaded: Overload.found?(results, configuration, load, valid))
        end

        def validity(valid, invalid)
          { valid_runs: valid.length, invalid_runs: invalid.length, reasons: invalid.flat_map(&:reasons).compact.uniq,
            unsteady_runs: valid.count { |run| run.steady == false } }
        end

        def speed(runs)
          { rate: (Statistics.median_interval(runs.map(&:rate)) if runs.any?),
            p50: percentile(runs, 50), p95: percentile(runs, 95), p99: percentile(runs, 99) }
        end

        # The percentile in milliseconds: the median over the runs. If a run has too few responses for it, the
        # percentile of all runs' responses together.
        def percentile(runs, percentile)
          times = runs.map { |run| run.time("p#{percentile}") }
          return if times.empty?

          times.all? ? Statistics.median_interval(times) : together(runs.filter_map(&:histogram), percentile)
        end

        # The wider of two intervals: from the variation within the responses, and from the variation between the
        # starts.
        def together(histograms, percentile)
          histograms = histograms.reject { |each| each.count.zero? }
          sum = Load::Histograms.sum(histograms)
          return if sum.count * (100 - percentile) / 100.0 < ENOUGH

          within = Statistics::Ranks.estimate(sum, percentile)
          between = Statistics.median_interval(histograms.map { |each| each.value_at(percentile) })
          bounds = [[within.low, between.low], [within.high, between.high]].map { |pair| pair if pair.all? }
          milliseconds(within.value, bounds[0]&.min, bounds[1]&.max, histograms.length)
        end

        def milliseconds(*nanoseconds, count)
          Statistics::Estimate.new(*nanoseconds.map { |each| each && each / 1e6 }, count)
        end

        def costs(runs, configuration)
          servers = runs.filter_map(&:server)
          { boot: median(runs.map(&:boot)), cpu_us: median(servers.map { |each| each["cpu_us"] }),
            switches: median(servers.map { |each| each["switches"] }),
            pss_total: median(servers.map { |each| each["pss_total"] }),
            pss_worker: median(servers.map { |each| worker(each["pss"], configuration.workers) }) }
        end

        # The mean memory of a worker. Other processes, such as a supervisor, are smaller and don't count.
        def worker(pss, workers)
          Load::Statistics.mean(pss.max([workers || 0, 1].max)) if pss&.any?
        end

        def median(values)
          known = values.compact
          Statistics.median(known) unless known.empty?
        end

        def faults(runs)
          errors = runs.sum(&:failures)
          sent = runs.sum { |run| run.sent || 0 }
          { errors: errors, error_share: sent.positive? ? errors.fdiv(sent) : 0.0 }
        end
      end
    end
  end
end
