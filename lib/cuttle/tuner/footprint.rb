# frozen_string_literal: true

module Cuttle
  module Tuner
    # The resources of a setting once it has started all of its threads: memory and database connections. Each is nil if
    # it is not in the profile. If a verification found more memory than predicted, all settings get that much more.
    class Footprint
      def initialize(profile)
        @memory = profile.memory
        @connections = profile.connections
        @heavier = [Model::Corrections.new(profile.corrections).memory_factor, 1.0].max
      end

      # The most threads that a process may start; 1 without a pool. An app that holds no database connections shows
      # the server no pool. How large another app's pool is isn't in the profile.
      def threads(setting)
        (@connections ? setting.most_threads : setting.most_threads(connections: nil)) || 1
      end

      # PSS of all processes, in octets.
      def memory(setting)
        return unless @memory && @memory["worker"]

        more = (threads(setting) - 1) * @memory["thread"].to_f
        alone = @memory["alone"] if setting.workers.zero?
        @heavier * (alone ? alone + more : @memory["base"].to_f + (setting.processes * (@memory["worker"] + more)))
      end

      # Database connections of all processes.
      def connections(setting)
        return unless @connections

        held = @connections["process"].to_f + (threads(setting) * @connections["thread"].to_f)
        (setting.processes * held).ceil
      end

      # Whether the setting keeps those Limits.
      def within?(setting, limits)
        { memory: memory(setting), connections: connections(setting) }
          .none? { |name, value| value && limits[name] && value > limits[name] }
      end
    end
  end
end
