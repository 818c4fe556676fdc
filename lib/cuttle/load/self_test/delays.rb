# frozen_string_literal: true

module Cuttle
  module Load
    class SelfTest
      # Compares reported delays with known ones: with the delays that the server measured, which tests the generator,
      # and with the intended delays, which tests the machine.
      class Delays
        COUNT = 2000
        PERCENTILES = [50, 90, 99].freeze
        TOLERANCE = 0.01 # of a time, and
        SLACK = 50_000 # ns
        PATIENCE = 5 # seconds in which the server must notice the ends of connections

        # In seconds: 2 ms and more, 7 ms on average. They are quantiles of an exponential distribution, in the middle
        # of equal shares.
        WANTED = Array.new(COUNT) { |index| 0.002 - 0.005 * Math.log(1 - (index + 0.5) / COUNT) }.freeze

        # margin: the factor for the deviations that are allowed for the machine.
        def initialize(margin: 1)
          @margin = margin
        end

        # The checks: two for each percentile.
        def run
          TestServers.open(delays: WANTED.shuffle(random: Random.new(1))) do |server|
            result = Load.run(server.url, connections: 20, requests: 2 * COUNT, threads: 1)
            held, cycle = times(server)
            PERCENTILES.flat_map do |percentile|
              [true_check(percentile, held, cycle, result), late_check(percentile, result)]
            end
          end
        end

        # True on any machine, however late it is: a response takes at least as long as the server held its request, and
        # at most the time between the previous answer and the next request, as measured by the server.
        def true_check(percentile, held, cycle, result)
          actual = result.latency.value_at(percentile)
          least, most = [held, cycle].map { |histogram| histogram.value_at(percentile) }
          passed = actual.between?(least - tolerance(least), most + tolerance(most)) && result.failures.zero?
          Check.new("times p#{percentile}", passed,
                    "#{Units.time(actual)}, where the server held requests for #{Units.time(least)} " \
                    "and had the next within #{Units.time(most)}")
        end

        # Whether the reported delays are as close to the intended ones as the machine allows.
        def late_check(percentile, result)
          expected = WANTED[(percentile / 100.0 * COUNT).ceil - 1] * 1e9
          actual = result.latency.value_at(percentile)
          allowed = @margin * tolerance(expected)
          Check.new("delays p#{percentile}", (actual - expected).abs <= allowed && result.failures.zero?,
                    "#{Units.time(actual)}, where the server should wait #{Units.time(expected)} " \
                    "(allowed: #{Units.time(allowed)} off)", about: :machine)
        end

        private

        # The server's times, after it has noticed the end of each connection, which ends the connection's last cycle.
        def times(server)
          deadline = Cuttle.now + PATIENCE
          loop do
            held, cycle = server.times
            return [held, cycle] if held.count == cycle.count || Cuttle.now > deadline

            sleep 0.001
          end
        end

        def tolerance(time)
          TOLERANCE * time + SLACK
        end
      end
    end
  end
end
