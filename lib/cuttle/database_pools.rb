# frozen_string_literal: true

module Cuttle
  # The pools of database connections of a loaded app, held against the threads that will want connections: a thread
  # more than there are connections waits for one, and times out at last.
  module DatabasePools
    ACTIVE_RECORD = "the database pool of Active Record"
    SEQUEL = "a database pool of Sequel"
    private_constant :ACTIVE_RECORD, :SEQUEL

    class << self
      # One line for each pool that has fewer connections than +threads+. Empty if there is none that we know of.
      # +flag+ is the option that gives fewer.
      def short(threads, flag = "-t")
        smaller(threads).map do |name, size|
          "#{name} has #{plural(size, "connection")} for #{threads} threads: some will wait for one. " \
            "Give the pool #{threads}, or start with #{flag} #{size}"
        end
      end

      # The connections of the smallest pool that limits threads; nil if there is none that we know of.
      def least
        all.reject { |pool| lone?(*pool) }.map(&:last).min
      end

      # Lines for a server with -t auto: why its limit is less than +usual+ threads, and which pools have a single
      # connection for several threads. +limit+: see Engines::Auto.limit.
      def limiting(limit, usual)
        lone, others = all.partition { |pool| lone?(*pool) }
        name = others.min_by(&:last)&.first
        [*(limited(limit, name) if limit < usual), *(lone.uniq.map { |alone, _| wait(alone, limit) } if limit > 1)]
      end

      private

      # [name, size] of each pool that has connections.
      def all
        [*active_record, *sequel].select { |_, size| size.is_a?(Integer) && size.positive? }
      end

      def smaller(threads)
        all.select { |_, size| size < threads }
      end

      # Sequel gives a database in memory (SQLite) one connection, unasked. An app that has a cache or a queue there
      # beside its real database would be left with one thread. Active Record has one only where somebody said so.
      def lone?(name, size)
        size == 1 && name == SEQUEL
      end

      # name: the pool's; nil if none is known.
      def limited(limit, name)
        "#{name ? "#{name} has #{plural(limit, "connection")}" : "no database pool is known"}, so -t auto starts at " \
          "most #{plural(limit, "thread")}; --max-threads N sets another limit"
      end

      def wait(name, threads)
        "#{name} has 1 connection for up to #{threads} threads: some may wait for it. --max-threads N sets a limit"
      end

      def plural(number, word)
        "#{number} #{word}#{"s" unless number == 1}"
      end

      # The databases that the app is configured for in this environment; it need not be connected to them yet.
      def active_record
        return unless defined?(::ActiveRecord::Base) && ::ActiveRecord::Base.respond_to?(:connection_db_config)

        own = ::ActiveRecord::Base.connection_db_config
        others = ::ActiveRecord::Base.configurations.configs_for(env_name: own.env_name)
        [own, *others].map { |database| [ACTIVE_RECORD, connections_of(database)] }.uniq
      rescue StandardError
        nil # no database is configured
      end

      # Rails 8.1 has another name for it. The old one warns, or raises.
      def connections_of(database)
        database.respond_to?(:max_connections) ? database.max_connections : database.pool
      end

      def sequel
        return unless defined?(::Sequel::DATABASES)

        ::Sequel::DATABASES.map { |database| [SEQUEL, database.pool.max_size] }
      rescue StandardError
        nil # a pool of the app's own making
      end
    end
  end
end
