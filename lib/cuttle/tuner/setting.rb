# frozen_string_literal: true

module Cuttle
  module Tuner
    # What is tuned: an engine, the number of forked workers (0: one process that does not fork; with the engine ractors
    # the number of ractors, 0 being one), and the threads of each of them. threads: a number, AUTO if the engine
    # adjusts it itself, or nil if the engine has no pool. max_threads: the limit given with AUTO, nil for the server's
    # own. Frozen; equal settings are equal.
    #
    #   Setting.new(engine: "hybrid", workers: 2, threads: 5).name       # => "hybrid -w 2 -t 5"
    #   Setting.new(engine: "hybrid", workers: 2, threads: "auto").name  # => "hybrid -w 2 -t auto"
    Setting = Struct.new(:engine, :workers, :threads, :max_threads, keyword_init: true) do
      # Raises UsageError for an invalid engine or number.
      def initialize(engine: "hybrid", workers: 0, threads: nil, max_threads: nil)
        threads = Engines.traits(engine).pooled? ? threads || 1 : nil
        max_threads = nil unless threads == Setting::AUTO
        super
        check
        freeze
      end

      def name
        [engine, (units if workers.positive? || traits.ractors?), ("-t #{threads}" if threads),
         ("--max-threads #{max_threads}" if max_threads)].compact.join(" ")
      end

      # The flag for the workers, or for the ractors, of which there would be one for each CPU otherwise.
      def units
        traits.ractors? ? "--ractors #{processes}" : "-w #{workers}"
      end

      # max_threads is included only if it was given.
      def to_h
        max_threads ? super : super.except(:max_threads)
      end

      def traits
        Engines.traits(engine)
      end

      # Whether the server starts threads when they help (-t auto).
      def auto?
        threads == Setting::AUTO
      end

      # Whether a process may come to serve more requests at once than it does at first.
      def grows?
        auto? || traits.fibers?
      end

      # The most threads that a process may start; nil if the engine has no pool. connections: of the app's smallest
      # database pool, nil if none is known. By default the pool limits nothing.
      def most_threads(connections: Engines::Auto::MOST)
        auto? ? max_threads || Engines::Auto.limit(connections) : threads
      end

      # Processes that serve requests, or ractors.
      def processes
        [workers, 1].max
      end

      # Requests that a process may have in the app at once.
      def slots(max_fibers: 1024)
        most = most_threads || 1
        traits.capacity(threads: most..most, max_fibers: max_fibers)
      end

      # Whether the settings differ only in their threads.
      def beside?(other)
        [engine, workers] == [other.engine, other.workers]
      end

      # The same setting with +number+ threads.
      def with_threads(number)
        Setting.new(engine: engine, workers: workers, threads: number)
      end

      private

      def check
        raise UsageError, "threads: engine #{engine} takes a number, not auto" if auto? && !traits.adaptive?

        { "workers" => [workers, Setting::WORKERS], "threads" => [auto? ? 1 : threads || 1, Setting::THREADS],
          "max_threads" => [max_threads || 1, Setting::THREADS] }.each do |name, (value, range)|
          next if value.is_a?(Integer) && range.cover?(value)

          raise UsageError, "#{name}: a whole number from #{range.min} to #{range.max}, not #{value.inspect}"
        end
      end
    end

    # Stands for a number of threads, in JSON too.
    Setting::AUTO = "auto"

    # The numbers that `cuttle serve` takes. With larger ones a forecast would take hours.
    Setting::WORKERS = (0..1024)
    Setting::THREADS = (1..10_000)
  end
end
