# frozen_string_literal: true

module Cuttle
  module Load
    # The load generator's warnings about a result. Each rule examines the result and returns nothing, or a text that
    # says why the figures may be wrong and what to do.
    module Marks
      Mark = Struct.new(:name, :text)

      BUSY = 0.8 # CPU time of the busiest thread / time
      LAG = 1_000_000 # ns, p99 of the send lag
      LAG_SHARE = 0.05 # share of the median response time
      LATE = 1_000_000 # ns after its intended time, from which a request is late
      LATE_SHARE = 0.001
      SAMPLES = 1000 # samples that a p99 needs
      WAITED = 0.05 # time that a thread waited for a core / time, or per response / median response time
      FREEZE = 0.1 # seconds
      FREEZE_FACTOR = 10 # factor for the median response time
      DRIFT = 0.10 # change from the first to the last third of a run
      SECONDS = 6 # seconds that a run needs for a check of its drift
      REDIRECTS = [301, 302, 303, 307, 308].freeze # that --follow follows

      RULES = %i[
        lost interrupted errors local redirects few_samples frozen busy descheduled lag late drift clipped
      ].freeze

      module_function

      def of(result)
        RULES.filter_map do |name|
          text = send(name, result)
          Mark.new(name, text) if text
        end
      end

      def lost(result)
        reasons = result.settings["lost"]
        "incomplete: #{reasons.join("; ")}" if reasons
      end

      def interrupted(result)
        "interrupted after #{Units.duration(result.elapsed)}#{waiting(result)}" if result.interrupted?
      end

      # If the server was about to freeze, those are the requests that matter.
      def waiting(result)
        count = result.unfinished + result.overdue
        return if count.zero?

        "; #{Units.plural(count, "request")} still waited, at most for #{Units.time(result.longest_wait)}, " \
          "and the percentiles leave them out"
      end

      def errors(result)
        return if result.failures.zero?

        "errors: #{Units.count(result.failures)} of #{Units.plural(result.arrivals, "request")} failed " \
          "(#{share(result.failures, result.arrivals)})#{wrong(result)}"
      end

      # Wrong responses distort the figures, because servers often answer errors fast.
      def wrong(result)
        "; their responses are in the rate and in the times" if result.good < result.responses
      end

      def share(part, whole)
        percent = 100.0 * part / whole
        percent < 0.01 ? "less than 0.01%" : "#{format("%.3g", percent)}%"
      end

      def local(result)
        count = result.errors[:local]
        return if count.zero?

        "this machine: #{Units.plural(count, "connection")} could not be opened here#{reason(result)}, which is not " \
          "the server's fault; use fewer connections or a lower rate, keep connections, or use --agents"
      end

      def reason(result)
        " (#{result.local_error})" if result.local_error
      end

      # With --follow, the last response to a request is a redirect only if it led to another server, or if it was one
      # too many (an error).
      def redirects(result)
        return unless result.settings["follow"].to_i.positive?

        count = result.statuses.slice(*REDIRECTS).values.sum - result.errors[:redirect]
        return unless count.positive?

        "redirects: #{Units.count(count)} of #{Units.plural(result.responses, "response")} led to another server and " \
          "were not followed; if it is this one under another name, give the name with -H 'Host: NAME'"
      end

      def few_samples(result)
        count = result.latency.count
        return if count >= SAMPLES

        "too few samples: #{Units.count(count)}, and a p99 needs #{Units.count(SAMPLES)}; run longer"
      end

      # A closed loop sends nothing while the server does not answer, so its percentiles hardly show it.
      def frozen(result)
        from, to = result.longest_gap
        return if result.open? || from.nil? || to - from < FREEZE
        return if (to - from) * 1e9 < FREEZE_FACTOR * result.latency.value_at(50)

        "the server froze for #{Units.time((to - from) * 1e9)} (at #{format("%.1f", from)} s): a closed loop " \
          "sends nothing in that time, so its percentiles leave out about " \
          "#{Units.plural(unsent(result, to - from), "request")} that would have waited; measure with --rate"
      end

      # The number of requests that the rate of the remaining time would have sent in that time.
      def unsent(result, length)
        rest = result.elapsed - length
        rest.positive? ? result.responses / rest * length : 0
      end

      def busy(result)
        return if result.client_cpu <= BUSY

        "client CPU: a thread of the generator was busy for #{(result.client_cpu * 100).round}% of the time; " \
          "use more --threads, or --agents"
      end

      # A thread that is ready to run but has no core reads and sends late, and the times include this delay.
      def descheduled(result)
        by_time = result.waiting or return
        by_response = result.waiting_per_response.to_f
        return if by_time <= WAITED && by_response <= WAITED * result.latency.value_at(50)

        "descheduled: a thread of the generator waited #{share(by_time, 1)} of the time for a core, " \
          "#{Units.time(by_response)} a response; keep cores free for the generator, or use --agents"
      end

      def lag(result)
        return if result.lag.count.zero?

        lag = result.lag.value_at(99)
        median = result.latency.value_at(50)
        return if lag <= LAG && lag <= LAG_SHARE * median

        share = " (#{(100.0 * lag / median).round}% of p50)" if median.positive?
        "send lag: p99 is #{Units.time(lag)}#{share}; it is part of the response times#{full(result)}"
      end

      def late(result)
        return if result.lag.count.zero?

        share = 1 - result.lag.count_to(LATE).fdiv(result.lag.count)
        return if share <= LATE_SHARE

        "late sends: #{format("%.2f", share * 100)}% were sent more than 1 ms after their time#{full(result)}"
      end

      def full(result)
        return unless result.full?

        connections, threads = result.settings.values_at("connections", "threads")
        return "; all connections of a thread were in use (#{connections} of all threads), see -c" if threads > 1

        "; all #{Units.plural(connections, "connection")} were in use, see -c"
      end

      # Compares the last third of the run with the first. It does not apply to loads that change.
      def drift(result)
        return unless Schedules.load({ "times" => [0] }.merge(result.settings["schedule"])).steady?

        windows = result.windows.select(&:whole?)
        return if windows.length < SECONDS

        drift_of(windows, "rate", &:rate) || drift_of(windows, "p50") { |window| window.histogram.value_at(50) }
      end

      # Whether the medians of the thirds differ by more than DRIFT and by more than the variation of the seconds within
      # a third.
      def drift_of(windows, name)
        third = windows.length / 3
        first = windows.first(third).map { |window| yield window }
        last = windows.last(third).map { |window| yield window }
        before, after = [first, last].map { |values| Statistics.median(values) }
        return unless before.positive? && (after - before).abs > DRIFT * before
        return if (after - before).abs < 3 * [first, last].map { |values| Statistics.spread(values) }.max

        "not in a steady state: the #{name} changed by #{format("%+d%%", ((after / before - 1) * 100).round)} from " \
          "the first third of the run to the last; use --warmup, or run longer"
      end

      def clipped(result)
        clipped = result.latency.clipped
        "#{clipped} response times of more than an hour count as an hour" if clipped.positive?
      end
    end
  end
end
