# frozen_string_literal: true

module Cuttle
  module Lab
    class Analysis
      # Whether an open loop's requests came faster than a configuration answered them. Then each one waits longer than
      # the one before, and response times only show how long the run was.
      #
      # Rule: without overload, the requests of the last moments are unanswered when a run ends: as many as come during
      # a response. Under overload there are more of them than quick responses explain. But a configuration that served
      # as many requests in a closed loop was not overloaded, however much its response times vary.
      module Overload
        KEEPING_UP = 0.8 # least share of the requests that had the time for a quick answer and got one
        QUICK = 10 # percentile of a quick response

        # Loads that are alike in these differ in nothing but the arrivals.
        ALIKE = %i[path keep_alive delay bandwidth].freeze

        module_function

        # runs: the valid ones of that configuration and load.
        def found?(results, configuration, load, runs)
          return false unless load.open?

          shares = runs.filter_map { |run| answered(run) }
          shares.any? && Statistics.median(shares) < KEEPING_UP && !served?(results, configuration, load)
        end

        # The share that was answered before the run ended, of the requests that had the time for a quick answer.
        def answered(run)
          return unless run.elapsed && run.sent&.positive?

          in_time = run.sent * (1 - quick(run).fdiv(run.elapsed))
          run.rate * run.elapsed / in_time if in_time.positive?
        end

        # Seconds of a response without a queue. Under a great overload almost all requests wait in one, and only the
        # quickest shows how long a response takes.
        def quick(run)
          times = run.histogram
          return 0.0 if times.nil? || times.count.zero?

          [times.value_at(QUICK), 2 * times.min].min / 1e9
        end

        # Whether it served the load's rate in a closed loop.
        def served?(results, configuration, load)
          closed = results.loads.reject { |each| each.open? || ALIKE.any? { |key| each[key] != load[key] } }
          closed.any? do |each|
            rates = results.runs(configuration: configuration, load: each).select(&:valid?).map(&:rate)
            rates.any? && load.rate && Statistics.median(rates) >= load.rate
          end
        end
      end
    end
  end
end
