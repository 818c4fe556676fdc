# frozen_string_literal: true

module Cuttle
  module Tuner
    # The resources of a setting once it has started all of its threads: memory and database connections. Each is nil if
    # it is not in the profile. If a verification found more memory than predicted, all settings get that much more.
    class Footprint
      # limit: database connections of all processes together (--db-connections), or nil.
      def initialize(profile, limit: nil)
        @limit = limit
        @memory = profile.memory
        @connections = profile.connections
        @heavier = [Model::Corrections.new(profile.corrections).memory_factor, 1.0].max
      end

      # The most threads that a process may start; 1 without a pool. An app that holds no database connections shows
      # the server no pool. How large another app's pool is isn't in the profile.
      def threads(setting)
        (@connections ? setting.most_threads : setting.most_threads(connections: nil)) || 1
      end

      # PSS of all processes, in octets. How much a worker takes is unknown if there was no run with two.
      def memory(setting)
        return unless @memory

        more = (threads(setting) - 1) * @memory["thread"].to_f
        alone, worker = @memory.values_at("alone", "worker")
        if alone && setting.workers.zero? then @heavier * (alone + more)
        elsif worker then @heavier * (@memory["base"].to_f + (setting.processes * (worker + more)))
        end
      end

      # Database connections that all processes may come to hold. A thread keeps its connection. Without threads, each
      # request that may be in the app has one.
      def connections(setting)
        return unless @connections

        held = @connections["process"].to_f + (slots(setting) * @connections["thread"].to_f)
        (setting.processes * [held, *pool].min).ceil
      end

      # Requests that each process may have in the app at once.
      def slots(setting)
        max_fibers(setting) || setting.slots
      end

      # The --max-fibers with which the engine fibers keeps the limit of connections, as a number of threads does; nil
      # if it needs none.
      def max_fibers(setting)
        each = @connections.to_h["thread"].to_f
        return unless @limit && setting.traits.fibers? && each.positive?
        return if pool && pool * setting.processes <= @limit

        free = @limit.fdiv(setting.processes) - @connections["process"].to_f
        number = [(free / each).floor, 1].max
        number if number < setting.slots
      end

      # What the profile has no figures of, although one of these Limits needs them: :memory, :workers (their memory),
      # :connections.
      def unknown(limits)
        memory = @memory&.key?("alone") ? :workers : :memory
        [(memory if limits.memory && @memory&.fetch("worker", nil).nil?),
         (:connections if limits.connections && @connections.nil?)].compact
      end

      # Whether the setting keeps those Limits.
      def within?(setting, limits)
        { memory: memory(setting), connections: connections(setting) }
          .none? { |name, value| value && limits[name] && value > limits[name] }
      end

      private

      # Connections of a process's pool, if the profile shows them; otherwise nil.
      def pool
        @connections["most"] if @connections["full"]
      end
    end
  end
end
