# frozen_string_literal: true

module Cuttle
  module Lab
    module Testers
      # ApacheBench: one thread, HTTP/1.0. It prints response times in whole milliseconds, which is coarse for a fast
      # server. The times include connecting.
      class Ab < Tester
        PROGRAM = "ab"
        PACKAGE = "apache2-utils"
        MOST = 100_000 # requests per second; one thread can't reach that, and ab reserves memory for each

        # "  50%      4". The 100% line is the longest time, which the line of totals has too.
        PERCENTILE = /^ +(\d\d)% +(\d+)/
        # Least, mean, deviation, median, longest.
        TOTAL = /^Total: +(\d+) +(\d+) +[\d.]+ +\d+ +(\d+)/
        FAILED = /^Failed requests: .*\n +\(Connect: (\d+), Receive: (\d+), Length: \d+, Exceptions: (\d+)\)/

        class << self
          def read(text)
            requests = number(text, "Complete requests") or return
            errors, octets = errors(text), number(text, "Total transferred").to_i
            responses = octets.zero? ? 0 : requests.to_i - errors[:reset] # ab counts a missing answer as a response
            { rate: number(text, "Requests per second"), responses: responses, octets: octets,
              elapsed: number(text, "Time taken for tests"), errors: errors, **(responses.zero? ? {} : times(text)) }
          end

          private

          def number(text, name)
            text[/^#{name}: +([\d.]+)/, 1]&.to_f
          end

          # A reset connection may also count as an exception. ab counts statuses other than 2xx without their class.
          def errors(text)
            connect, receive, exceptions = FAILED.match(text)&.captures&.map(&:to_i) || [0, 0, 0]
            { connect: connect, reset: [receive, exceptions].max,
              status_unexpected: number(text, "Non-2xx responses").to_i }
          end

          def times(text)
            least, mean, most = TOTAL.match(text).captures.map { |each| each.to_i / 1e3 }
            { min: least, mean: mean, max: most,
              percentiles: text.scan(PERCENTILE).to_h { |each, time| [each.to_i, time.to_i / 1e3] } }
          end
        end

        private

        def threads
          1
        end

        # -r: continues when a connection is reset. -l: accepts responses of different lengths.
        def command
          length = @requests ? ["-n", @requests.to_s] : ["-t", seconds.to_s, "-n", (MOST * seconds).to_s]
          ["ab", "-q", "-r", "-l", *("-k" if @keep_alive), "-s", @timeout.ceil.to_s, "-c", @connections.to_s,
           *length, @url]
        end
      end
    end
  end
end
