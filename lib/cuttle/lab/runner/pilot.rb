# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # Starts one configuration before the lab's plan is made, and loads it briefly, to measure the time of a start,
      # the capacity and the time of a request. A budget needs all of them, an open loop at a share of the capacity the
      # second. These figures are not results.
      class Pilot
        WARMUP = 0.2 # seconds
        DURATION = 0.4
        EACH = 2 # responses of each connection that show the capacity
        LONG = 3 # seconds of a start; after a longer one, another one is measured
        DIGITS = 2 # of a rate: 250 requests per second, not 253.7

        # start: seconds of a start and a stop, without loads. capacity: responses/s, 0 if none came within the timeout.
        # configuration: its name. slots: requests that the app had at once.
        Found = Struct.new(:start, :capacity, :configuration, :slots) do
          # That share of the capacity, as a round number. Raises Failure if there was no response.
          def rate(share)
            exact = capacity * share
            return exact.round(DIGITS - 1 - Math.log10(exact).floor) if exact.positive?

            raise Failure, "#{configuration} answered no request of the pilot run in time: increase --timeout, or " \
                           "give --rate as a number"
          end

          # Seconds that a request takes a slot; 0 if unknown.
          def slot
            capacity.positive? ? slots / capacity : 0.0
          end

          # Seconds that a response takes under a load: in a closed loop, requests also wait for slots.
          def response(load)
            load.open? ? slot : slot * [load.connections.fdiv(slots), 1].max
          end
        end

        # plan: provides the configurations. connections: of the closed loop. duration: seconds, if more than DURATION.
        # generation: a Generation.
        def initialize(plan, testbed, cores, connections:, interruption:, duration: DURATION,
                       generation: Generation.new(interruption))
          @plan = plan
          @testbed = testbed
          @cores = cores
          @connections = connections
          @interruption = interruption
          @generation = generation
          @duration = [duration, DURATION].max
        end

        # A Found for the first configuration that can be loaded; nil if interrupted. Raises Failure if none can.
        def call
          reasons = []
          candidates.each do |configuration|
            found = measure(configuration) unless @interruption.asked?
            return @interruption.asked? ? nil : found
          rescue Failure, Load::Failure => error
            reasons << error.message
          end
          raise Failure, "nothing could be measured: #{reasons.first || "there is no server"}"
        end

        private

        # The control's original, then the others.
        def candidates
          present = @plan.present
          controlled = present.filter_map(&:control_of)
          originals = present.reject(&:control_of)
          originals.partition { |each| controlled.include?(each.id) }.flatten
        end

        def measure(configuration)
          start, result = start(configuration) { |server, url| run(configuration, server, url) }
          start = [start, start(configuration).first].min if start > LONG # its files were not in memory
          Found.new(start, result.rate, configuration.name, [configuration.slots, @connections].compact.min)
        end

        # Seconds of a start and a stop, without those of the block, and the block's value.
        def start(configuration)
          began = Cuttle.now
          loading = 0
          result = nil
          @testbed.serve(configuration, [load]) do |server, routes|
            loading = -Cuttle.now
            result = yield server, routes.to(load).url if block_given?
            loading += Cuttle.now
          end
          [Cuttle.now - began - loading, result]
        end

        # A run by time. If it would have too few responses, one by number: its rate includes the last ones.
        def run(configuration, server, url)
          options = @testbed.load_options(configuration, load, @cores)
          warm = @generation.call(url, duration: WARMUP, **options)
          enough = EACH * @connections
          length = warm.rate * @duration < enough ? { requests: enough } : { duration: @duration }
          result = @generation.call(url, **length, **options)
          raise Failure, "the server died" unless server.running?

          Refusal.check(result, url, mix: options[:mix])
          result
        end

        def load
          @load ||= Results::LoadSpec.new("id" => "pilot", "loop" => "closed", "connections" => @connections)
        end
      end
    end
  end
end
