# frozen_string_literal: true

module Cuttle
  module Lab
    module Testers
      # wrk: threads on epoll. It runs for a time, never for a number of requests, and does not report requests that are
      # in flight at the end. Connecting is not part of its times.
      class Wrk < Tester
        PROGRAM = "wrk"
        PACKAGE = "wrk"
        SECONDS = { "us" => 1e-6, "ms" => 1e-3, "s" => 1, "m" => 60, "h" => 3600 }.freeze
        OCTETS = { "B" => 1, "KB" => 1024, "MB" => 1024**2, "GB" => 1024**3, "TB" => 1024**4 }.freeze

        TOTAL = /^ *(\d+) requests in (\S+), ([\d.]+)([KMGT]?B) read/
        # Mean, deviation, longest.
        LATENCY = /^ *Latency +(\S+) +\S+ +(\S+)/
        PERCENTILE = /^ *(\d+)% +([\d.]+\w+)$/
        SOCKET = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/

        class << self
          def read(text)
            requests, elapsed, octets, unit = TOTAL.match(text)&.captures
            return unless requests

            { rate: text[%r{^Requests/sec: +([\d.]+)}, 1].to_f, responses: requests.to_i, elapsed: seconds(elapsed),
              octets: (octets.to_f * OCTETS.fetch(unit)).round, errors: errors(text),
              **(requests.to_i.positive? ? times(text) : {}) }
          end

          private

          def errors(text)
            connect, read, write, timeout = SOCKET.match(text)&.captures&.map(&:to_i) || [0] * 4
            { connect: connect, reset: read + write, timeout: timeout, # wrk does not say which were no resets
              status_unexpected: text[/Non-2xx or 3xx responses: (\d+)/, 1].to_i }
          end

          def times(text)
            mean, most = LATENCY.match(text).captures.map { |each| seconds(each) }
            { mean: mean, max: most,
              percentiles: text.scan(PERCENTILE).to_h { |each, time| [each.to_i, seconds(time)] } }
          end

          # "12.3us", "1.20m"
          def seconds(text)
            text.to_f * SECONDS.fetch(text[/[a-z]+\z/])
          end
        end

        private

        def command
          ["wrk", "--latency", "-t", threads.to_s, "-c", @connections.to_s, "-d", "#{seconds}s",
           "--timeout", "#{@timeout.ceil}s", *(["-H", "Connection: close"] unless @keep_alive), @url]
        end
      end
    end
  end
end
