# frozen_string_literal: true

require "json"

module Cuttle
  module Lab
    module Testers
      # wrk: threads on epoll. It runs for a duration, never for a number of requests, and does not report requests that
      # are in flight at the end. Its times don't include connecting. It drops responses that take longer than its
      # timeout, and "corrects" latencies above twice the mean interval by adding made-up shorter ones.
      class Wrk < Tester
        PROGRAM = "wrk"
        PACKAGE = "wrk"

        # Prints the end of a run as one line of JSON, exact where wrk's own report is rounded. It runs nothing per
        # request. Times are in microseconds.
        SCRIPT = <<~LUA
          done = function(summary, latency, requests)
            local times, errors = {}, summary.errors
            for _, percentile in ipairs({50, 75, 90, 95, 99, 99.9}) do
              table.insert(times, string.format('"%g":%d', percentile, latency:percentile(percentile)))
            end
            io.write(string.format('wrk {"elapsed":%d,"responses":%d,"octets":%.0f,"min":%d,"mean":%f,"max":%d,' ..
              '"percentiles":{%s},"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}\\n',
              summary.duration, summary.requests, summary.bytes, latency.min, latency.mean, latency.max,
              table.concat(times, ","), errors.connect, errors.read, errors.write, errors.timeout, errors.status))
          end
        LUA
        REPORT = /^wrk (\{.*\})$/

        class << self
          def any_request? = true

          def read(text)
            said = text[REPORT, 1]&.then { |line| JSON.parse(line) } or return
            elapsed = said["elapsed"] / 1e6
            { rate: said["responses"] / elapsed, responses: said["responses"], elapsed: elapsed,
              octets: said["octets"], errors: errors(said), **(said["responses"].positive? ? times(said) : {}) }
          end

          private

          def errors(said)
            { connect: said["connect"], reset: said["read"] + said["write"], # wrk counts resets together with others
              timeout: said["timeout"], status_unexpected: said["status"] }
          end

          def times(said)
            { min: said["min"] / 1e6, mean: said["mean"] / 1e6, max: said["max"] / 1e6,
              percentiles: said["percentiles"].to_h { |each, time| [each.to_f, time / 1e6] } }
          end
        end

        private

        def command
          File.write(file("report.lua"), "#{request}#{SCRIPT}")
          ["wrk", "-s", file("report.lua"), "-t", threads.to_s, "-c", @connections.to_s, "-d", "#{seconds}s",
           "--timeout", "#{@timeout.ceil}s", *headers.flat_map { |header| ["-H", header] }, @url]
        end

        def headers
          own = @headers.map { |name, value| "#{name}: #{value}" }
          @keep_alive ? own : ["Connection: close", *own]
        end

        # The lines of the script that set method and body. wrk puts such a request together once.
        def request
          { "method" => @method, "body" => @body }.compact.map { |name, text| "wrk.#{name} = #{quoted(text)}\n" }.join
        end

        # A string of Lua, whatever octets it has.
        def quoted(text)
          %("#{text.b.gsub(/[^0-9A-Za-z ]/n) { |octet| format("\\%03d", octet.ord) }}")
        end
      end
    end
  end
end
