# frozen_string_literal: true

module Cuttle
  module Tuner
    # What a setting occupies once it has all of its threads: memory, and connections to the database. Each is nil where
    # the profile doesn't know it.
    class Footprint
      def initialize(profile)
        @memory = profile.memory
        @connections = profile.connections
      end

      # Octets, PSS of all processes.
      def memory(setting)
        return unless @memory && @memory["worker"]

        more = (threads(setting) - 1) * @memory["thread"].to_f
        return @memory["alone"] + more if @memory["alone"] && setting.workers.zero?

        @memory["base"].to_f + (setting.processes * (@memory["worker"] + more))
      end

      # Connections to the database, of all processes.
      def connections(setting)
        return unless @connections

        held = @connections["process"].to_f + (threads(setting) * @connections["thread"].to_f)
        (setting.processes * held).ceil
      end

      # Whether it keeps those Limits.
      def within?(setting, limits)
        { memory: memory(setting), connections: connections(setting) }
          .none? { |name, value| value && limits[name] && value > limits[name] }
      end

      private

      def threads(setting)
        setting.most_threads || 1
      end
    end
  end
end
