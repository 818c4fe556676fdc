# frozen_string_literal: true

module Cuttle
  module Lab
    module Testers
      # ApacheBench: one thread, HTTP/1.0. Of a response time it prints whole milliseconds, so that of a fast server's
      # there is little left; the connecting is in it.
      class Ab < Tester
        PROGRAM = "ab"
        PACKAGE = "apache2-utils"
        MOST = 100_000 # requests per second, more than one thread can do: it reserves memory for as many as it is told

        # "  50%      4"; 100% is the longest, which is in the line of totals as well.
        PERCENTILE = /^ +(\d\d)% +(\d+)/
        # Least, mean, deviation, median, longest.
        TOTAL = /^Total: +(\d+) +(\d+) +[\d.]+ +\d+ +(\d+)/
        ERRORS = { connect: "Connect", reset: "Receive", malformed: "Exceptions" }.freeze

        class << self
          def read(text)
            requests = number(text, "Complete requests") or return
            errors = ERRORS.transform_values { |word| text[/\bFailed requests:.*\n.*\b#{word}: (\d+)/, 1].to_i }
            errors[:status_unexpected] = number(text, "Non-2xx responses").to_i # it doesn't say which
            least, mean, most = TOTAL.match(text)&.captures&.map { |each| each.to_i / 1e3 }
            { rate: number(text, "Requests per second"), responses: requests.to_i - errors[:reset],
              octets: number(text, "Total transferred").to_i, elapsed: number(text, "Time taken for tests"), errors: errors,
              min: least, mean: mean, max: most,
              percentiles: text.scan(PERCENTILE).to_h { |each, time| [each.to_i, time.to_i / 1e3] } }
          end

          private

          def number(text, name)
            text[/^#{name}: +([\d.]+)/, 1]&.to_f
          end
        end

        private

        def threads
          1
        end

        # -r: goes on where a connection is reset, -l: takes responses of different lengths.
        def command
          length = @requests ? ["-n", @requests.to_s] : ["-t", seconds.to_s, "-n", (MOST * seconds).to_s]
          ["ab", "-q", "-r", "-l", *("-k" if @keep_alive), "-s", @timeout.ceil.to_s, "-c", @connections.to_s, *length, @url]
        end
      end
    end
  end
end
