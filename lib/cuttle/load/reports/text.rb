# frozen_string_literal: true

module Cuttle
  module Load
    module Reports
      # The report on the terminal at the end of a run.
      module Text
        COLUMNS = %w[min mean sd max].freeze
        ROWS = {
          latency: "response", service: "  service", first_byte: "  first byte", transfer: "  transfer",
          lag: "send lag", connect: "connect"
        }.freeze
        ERRORS = {
          connect: "could not connect", reset: "connection reset", early_close: "closed too early",
          timeout: "timed out", malformed: "malformed response", length: "body length mismatch",
          status_4xx: "status 4xx", status_5xx: "status 5xx", status_unexpected: "unexpected status",
          check: "failed check", redirect: "too many redirects",
          dropped: "behind a timeout", local: "this machine's fault"
        }.freeze
        ENTRY = [50, 90, 95, 99].freeze # percentiles by name
        ENTRY_COLUMNS = ["responses", "errors", *ENTRY.map { |percentile| "p#{percentile}" }, "mean", "max"].freeze
        NAME = 32 # letters
        BARS = 12
        WIDTH = 44
        EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"].freeze

        module_function

        def render(result)
          [heading(result), totals(result), times(result), entries(result), chart(result.latency), errors(result),
           marks(result)].compact.join("\n\n") << "\n"
        end

        def heading(result)
          settings = result.settings
          connections = "#{"up to " if result.open?}#{Units.plural(settings["connections"], "connection")}"
          "#{settings["url"]}\n#{settings["load"]}, #{connections}, #{Units.plural(settings["threads"], "thread")}, " \
            "#{Units.duration(result.elapsed)}#{details(settings)}"
        end

        def details(settings)
          details = []
          details << "after #{Units.duration(settings["warmup"])} of warm-up" if settings["warmup"].positive?
          details << "cookies kept" if settings["cookies"]
          details << "redirects followed" if settings["follow"].to_i.positive?
          details << "a connection each" unless settings["keep_alive"]
          details << "#{settings["pipeline"]} pipelined" if settings["pipeline"] > 1
          details << "thinking #{Units.duration(settings["think"])}" if settings["think"].positive?
          details << "reading #{Units.size(settings["slow_read"].round)}/s" if settings["slow_read"]
          details.map { |word| ", #{word}" }.join
        end

        def totals(result)
          lines = ["rate        #{rate_line(result)}", *good_line(result),
                   "responses   #{Units.count(result.responses)} of #{Units.count(result.sent)} sent" \
                   "#{retried(result)}#{abandoned(result)}#{unfinished(result)}", *statuses_line(result),
                   "received    #{Units.size(result.octets)}, #{Units.size(result.octet_rate.round)}/s"]
          if result.cpu_per_response
            lines << "client CPU  #{(result.client_cpu * 100).round}% of the busiest thread, " \
                     "#{Units.time(result.cpu_per_response)} a response"
          end
          lines.join("\n")
        end

        def rate_line(result)
          line = "#{Units.count(result.rate, 1)}/s"
          return line unless result.offered && result.elapsed.positive?

          "#{line} of #{Units.count(result.offered / result.elapsed, 1)}/s offered"
        end

        # The line for good responses, if their rate differs from the rate.
        def good_line(result)
          return if result.good == result.responses

          "good        #{Units.count(result.good_rate, 1)}/s: #{Units.count(result.good)} of " \
            "#{Units.plural(result.responses, "response")}"
        end

        def statuses_line(result)
          counts = result.statuses.map { |status, count| "#{Units.count(count)} × #{status}" }
          "statuses    #{counts.join(", ")}" if counts.any?
        end

        def retried(result)
          ", #{Units.count(result.retried)} of them again on a new connection" if result.retried.positive?
        end

        def abandoned(result)
          ", #{Units.count(result.abandoned)} timed out before they could be sent" if result.abandoned.positive?
        end

        def unfinished(result)
          counts = { "unanswered" => result.unfinished, "overdue" => result.overdue }.reject { |_, count| count.zero? }
          ", #{counts.map { |name, count| "#{Units.count(count)} #{name}" }.join(" and ")} when stopped" if counts.any?
        end

        # A table with a row for each time and a column for each figure, so that it fits on a screen.
        def times(result)
          header = ["", *Result::PERCENTILES.map { |percentile| "p#{percentile}" }, *COLUMNS]
          Report::Columns.align([header, *rows_of(result).map { |name, times| [name, *figures(result, times)] }])
        end

        # A row for each name of the requests. Times are response times.
        def entries(result)
          return if result.entries.empty?

          rows = result.entries.map { |entry| [shortened(entry.name), *entry_figures(result, entry)] }
          Report::Columns.align([["by request", *ENTRY_COLUMNS], *rows])
        end

        def entry_figures(result, entry)
          histogram = entry.latency
          percentiles = ENTRY.map { |percentile| time_or_na(result.percentile(percentile, histogram)) }
          ends = [histogram.mean, histogram.max].map { |time| histogram.count.zero? ? "n/a" : Units.time(time) }
          [Units.count(entry.responses), Units.count(entry.failures), *percentiles, *ends]
        end

        def shortened(name)
          name.length > NAME ? "#{name[0, NAME - 1]}…" : name
        end

        def rows_of(result)
          ROWS.filter_map do |name, label|
            histogram = result.public_send(name)
            next if histogram.max.zero? && name != :latency # no values, or no response came in pieces
            next if name == :service && !result.open? && result.settings["keep_alive"]

            [label, histogram]
          end
        end

        def figures(result, histogram)
          percentiles = Result::PERCENTILES.map { |percentile| time_or_na(result.percentile(percentile, histogram)) }
          return [*percentiles, *COLUMNS.map { "n/a" }] if histogram.count.zero?

          [*percentiles, *%i[min mean deviation max].map { |figure| Units.time(histogram.public_send(figure)) }]
        end

        def time_or_na(nanoseconds)
          nanoseconds ? Units.time(nanoseconds) : "n/a"
        end

        # Response times on a logarithmic scale, in at most BARS bars from the smallest to the greatest.
        def chart(histogram)
          return if histogram.count.zero? || histogram.max <= histogram.min

          bounds = bounds(histogram)
          counts = counts(histogram, bounds)
          rows = bounds.zip(counts).map do |bound, count|
            ["≤ #{Units.time(bound)}", bar(count.fdiv(counts.max)), share(count, histogram)]
          end
          Report::Columns.align(rows, left: [1, 2], gap: " ")
        end

        def bounds(histogram)
          low = [histogram.min, 1].max
          ratio = histogram.max.fdiv(low)**(1.0 / BARS)
          (1..BARS).map { |step| step == BARS ? histogram.max : (low * ratio**step).ceil }.uniq
        end

        def counts(histogram, bounds)
          below = bounds.map { |bound| histogram.count_to(bound) }
          below.each_cons(2).map { |one, other| other - one }.unshift(below.first)
        end

        def bar(share)
          eighths = (share * WIDTH * 8).round
          eighths = 1 if eighths.zero? && share.positive?
          "█" * (eighths / 8) + EIGHTHS[eighths % 8]
        end

        def share(count, histogram)
          return "" if count.zero?

          percent = 100.0 * count / histogram.count
          "#{percent < 0.01 ? "<0.01" : format("%.2f", percent)}%"
        end

        def errors(result)
          return "errors      none" if result.failures.zero?

          counts = result.errors.select { |_, count| count.positive? }
          rows = counts.map do |name, count|
            ["  #{ERRORS.fetch(name)}", "#{Units.count(count)}#{reason(name, result)}"]
          end
          lines = Report::Columns.align(rows, left: 0..1, gap: " ", least: [22])
          "errors      #{Units.count(result.failures)}\n#{lines}"
        end

        def reason(name, result)
          reason = { connect: result.connect_error, local: result.local_error }[name]
          " (#{reason})" if reason
        end

        def marks(result)
          return "validity    no warnings" if result.marks.empty?

          ["validity", *result.marks.map { |mark| "  ! #{mark.text}" }].join("\n")
        end
      end
    end
  end
end
