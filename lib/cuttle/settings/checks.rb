# frozen_string_literal: true

module Cuttle
  class Settings
    # Values that are right each alone and wrong together, and names that nothing has. One line for each.
    module Checks
      class << self
        # Raises UsageError.
        def call(settings)
          known(settings.engine, Engines.names, "engine")
          known(settings.parser, Http::Parsers.names, "parser")
          thread_per_connection(settings)
          one_thread(settings)
          study(settings)
        end

        private

        def known(name, names, what)
          raise UsageError, "unknown #{what} #{name.inspect}: #{names.join(", ")}" unless names.include?(name)
        end

        def thread_per_connection(settings)
          return unless settings.threads.max.zero? && settings.engine != "threads"

          raise UsageError, "engine #{settings.engine} has a fixed pool: " \
                            "--threads 0 (a thread per connection) goes with --engine threads"
        end

        # A number of threads that would silently do nothing spoils a comparison.
        def one_thread(settings)
          return unless settings.origin(:threads) == :flag && settings.threads.max > 1
          return unless Defaults::ONE_THREAD.include?(settings.engine)

          raise UsageError, "engine #{settings.engine} runs the app on one thread: leave out --threads"
        end

        def study(settings)
          return unless settings.environment == "production"
          return unless Http::Parsers.fetch(settings.parser).study_only?

          raise UsageError, "parser #{settings.parser} is for study only: it does not serve in production"
        end
      end
    end
  end
end
