# frozen_string_literal: true

module Cuttle
  module Load
    class Agents
      # One of the agents, as the caller sees it: what it has reported so far, and at the end its result, or why it
      # failed, or both.
      class Remote
        SILENCE = 15 # seconds without a message after which an agent is lost

        # threads: the number that suits its machine. windows: the seconds that were not passed on yet. drained: windows
        # after the last second. live: Run#live.
        attr_reader :threads, :windows, :drained, :live, :result, :error

        # Raises Failure.
        def initialize(wire)
          @wire = wire
          @threads = wire.demand["threads"]
          @all = []
          @windows = []
          @drained = []
          @live = [0, 0, 0, 0, 0]
        end

        # plan: its part of the whole Plan.
        def prepare(plan)
          @wire.put("plan" => plan.to_wire)
        end

        # Returns when the agent can start. Raises Failure.
        def await
          take(@wire.demand(timeout: 30))
          raise Failure, error if error
        end

        def go
          @wire.put("go" => true)
          @heard = Cuttle.now
        end

        def running?
          result.nil? && error.nil?
        end

        # Ends its run early.
        def stop
          @wire.put("stop" => true) if running?
        rescue Wire::Lost => error
          @error = error.message
        end

        # Takes its messages until none arrives for +seconds+.
        def listen(seconds)
          while running? && (message = @wire.get(timeout: seconds))
            @heard = Cuttle.now
            take(message)
          end
          @error = "#{@wire.name}: silent for #{SILENCE} s" if running? && Cuttle.now - @heard > SILENCE
        rescue Failure => error
          @error = error.message
        end

        def close
          @wire.close
        end

        private

        def take(message)
          keep(message["window"]) if message["window"]
          @live = message["tick"][1] if message["tick"]
          @result = Result.load(message["result"].merge("windows" => @all)) if message["result"]
          @error = "#{@wire.name}: #{message["error"]}" if message["error"]
        end

        def keep(hash)
          @all << hash
          window = Window.load(hash)
          (window.draining? ? drained : windows) << window.part
        end
      end
    end
  end
end
