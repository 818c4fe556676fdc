# frozen_string_literal: true

module Cuttle
  module Tuner
    # What is tuned: an engine, forked workers (0: one process that does not fork), and the threads of each process
    # (nil if the engine has no pool). Frozen; equal settings are equal.
    #
    #   Setting.new(engine: "hybrid", workers: 2, threads: 5).name   # => "hybrid -w 2 -t 5"
    Setting = Struct.new(:engine, :workers, :threads, keyword_init: true) do
      # Raises UsageError for an engine or a number that can't be.
      def initialize(engine: "hybrid", workers: 0, threads: nil)
        pooled = Engines.traits(engine).pooled?
        super(engine: engine, workers: workers, threads: pooled ? threads || 1 : nil)
        { "workers" => [workers, 0], "threads" => [self.threads || 1, 1] }.each do |name, (value, least)|
          next if value.is_a?(Integer) && value >= least

          raise UsageError, "#{name}: a whole number from #{least} on, not #{value.inspect}"
        end
        freeze
      end

      def name
        [engine, ("-w #{workers}" if workers.positive?), ("-t #{threads}" if threads)].compact.join(" ")
      end

      def traits
        Engines.traits(engine)
      end

      # Processes that serve.
      def processes
        [workers, 1].max
      end

      # Requests that one process may have in the app at once.
      def slots(max_fibers: 1024)
        traits.capacity(threads: (threads || 1)..(threads || 1), max_fibers: max_fibers)
      end
    end
  end
end
