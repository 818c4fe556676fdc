# frozen_string_literal: true

module Cuttle
  module Load
    module Reports
      # The report in ab's layout, for scripts that read it. It leaves out what is not measured (the document's length,
      # the server's name). "Failed requests" are all errors; a status of 400 or more is an error here.
      module Ab
        PERCENTILES = [50, 66, 75, 80, 90, 95, 98, 99].freeze

        module_function

        def render(result)
          %i[server totals speed connection_times percentiles].map { |part| send(part, result) }.join("\n\n") << "\n"
        end

        def server(result)
          target = Target.new(result.settings["url"])
          table("Server Hostname:" => target.host, "Server Port:" => target.port || target.url, "" => nil,
                "Document Path:" => target.path)
        end

        def totals(result)
          lines = { "Concurrency Level:" => result.settings["connections"],
                    "Time taken for tests:" => format("%.3f seconds", result.elapsed),
                    "Complete requests:" => result.responses, "Failed requests:" => result.failures }
          text = table(lines)
          text << failures(result.errors) if result.failures.positive?
          others = result.statuses.sum { |status, count| (200..299).cover?(status) ? 0 : count }
          text << "\n" << table("Non-2xx responses:" => others) if others.positive?
          text << "\n" << table("Total transferred:" => "#{result.octets} bytes")
        end

        def failures(errors)
          connect = errors.values_at(:connect, :local).sum
          receive = errors.values_at(:reset, :early_close, :timeout, :dropped).sum
          exceptions = errors.values_at(:malformed, *Result::WRONG).sum
          "\n   (Connect: #{connect}, Receive: #{receive}, Length: #{errors[:length]}, " \
            "Exceptions: #{exceptions})"
        end

        def speed(result)
          mean = result.latency.mean / 1e6
          across = result.rate.positive? ? 1000 / result.rate : 0
          table("Requests per second:" => format("%.2f [#/sec] (mean)", result.rate),
                "Time per request:" => format("%.3f [ms] (mean)", mean)) << "\n" <<
            table("Time per request:" => format("%.3f [ms] (mean, across all concurrent requests)", across),
                  "Transfer rate:" => format("%.2f [Kbytes/sec] received", result.octet_rate / 1024))
        end

        def connection_times(result)
          rows = { "Connect:" => result.connect, "Processing:" => result.service, "Waiting:" => result.first_byte,
                   "Total:" => result.latency }
          ["Connection Times (ms)", "              min  mean[+/-sd] median   max",
           *rows.map { |name, histogram| times(name, histogram) }].join("\n")
        end

        def times(name, histogram)
          values = [histogram.min, histogram.mean, histogram.deviation, histogram.value_at(50), histogram.max]
          format("%-11s %5.3f %6.3f %6.3f %6.3f %7.3f", name, *values.map { |value| value / 1e6 })
        end

        def percentiles(result)
          latency = result.latency
          rows = PERCENTILES.map { |wanted| format("%5d%% %7.3f", wanted, latency.value_at(wanted) / 1e6) }
          ["Percentage of the requests served within a certain time (ms)", *rows,
           format("%5d%% %7.3f (longest request)", 100, latency.max / 1e6)].join("\n")
        end

        def table(lines)
          Report::Columns.align(lines.map { |row| row.map(&:to_s) }, left: 0..1, gap: " ", least: [23])
        end
      end
    end
  end
end
