# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # Starts one configuration before the lab's plan is made, and loads it briefly, to measure the time of a start and
      # the capacity. A budget needs the first, an open loop at a share of the capacity the second. These figures are
      # not results.
      class Pilot
        WARMUP = 0.2 # seconds
        DURATION = 0.4
        DIGITS = 2 # of a rate: 250 requests per second, not 253.7

        # start: seconds of a start and a stop, without loads. capacity: responses/s, 0 if none came in time.
        # configuration: its name.
        Found = Struct.new(:start, :capacity, :configuration) do
          # That share of the capacity, as a round number. Raises Failure if there was no response.
          def rate(share)
            exact = capacity * share
            return exact.round(DIGITS - 1 - Math.log10(exact).floor) if exact.positive?

            raise Failure, "#{configuration} answered nothing in the pilot run: give --rate as a number"
          end
        end

        # plan: provides the configurations. connections: of the closed loop. duration: seconds, if more than DURATION.
        def initialize(plan, testbed, cores, connections:, interruption:, duration: DURATION)
          @plan = plan
          @testbed = testbed
          @cores = cores
          @connections = connections
          @interruption = interruption
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
          began = Cuttle.now
          loading = 0
          result = nil
          @testbed.serve(configuration, [load]) do |server, routes|
            loading = -Cuttle.now
            result = run(configuration, server, routes.to(load))
            loading += Cuttle.now
          end
          Found.new(Cuttle.now - began - loading, result.rate, configuration.name)
        end

        def run(configuration, server, route)
          options = @testbed.load_options(configuration, load, @cores)
          results = [WARMUP, @duration].map { |seconds| generate(route.url, duration: seconds, **options) }
          raise Failure, "the server died" unless server.running?

          results.last
        end

        def generate(url, **options)
          @interruption.watch(Load::Generator.new(Load::Plan.build(url, **options)))
        end

        def load
          @load ||= Results::LoadSpec.new("id" => "pilot", "loop" => "closed", "connections" => @connections)
        end
      end
    end
  end
end
