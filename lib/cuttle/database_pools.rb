# frozen_string_literal: true

module Cuttle
  # The pools of database connections of a loaded app, held against the threads that will want connections: a thread
  # more than there are connections waits for one, and times out at last.
  module DatabasePools
    class << self
      # One line for each pool that has fewer connections than +threads+. Empty if there is none that we know of.
      # +flag+ is the option that gives fewer.
      def short(threads, flag = "-t")
        smaller(threads).map do |name, size|
          "#{name} has #{connections(size)} for #{threads} threads: some will wait for one. " \
            "Give the pool #{threads}, or start with #{flag} #{size}"
        end
      end

      # The connections of the smallest pool that we know of; nil if there is none.
      def least
        all.filter_map(&:last).min
      end

      # One line for the smallest pool, if it has fewer connections than +threads+, and so limits them.
      def limiting(threads)
        name, size = smaller(threads).min_by(&:last)
        name ? ["#{name} has #{connections(size)}: as many threads at most; --max-threads N allows others"] : []
      end

      private

      # [name, size] of each pool.
      def all
        [*active_record, *sequel]
      end

      def smaller(threads)
        all.select { |_, size| size && size < threads }
      end

      def connections(size)
        "#{size} connection#{"s" unless size == 1}"
      end

      # What the app is configured for in this environment; it need not be connected yet.
      def active_record
        return unless defined?(::ActiveRecord::Base) && ::ActiveRecord::Base.respond_to?(:connection_db_config)

        size = ::ActiveRecord::Base.connection_db_config.pool
        [["the database pool of Active Record", size]]
      rescue StandardError
        nil # no database is configured
      end

      def sequel
        return unless defined?(::Sequel::DATABASES)

        ::Sequel::DATABASES.map { |database| ["a database pool of Sequel", database.pool.max_size] }
      rescue StandardError
        nil # a pool of the app's own making
      end
    end
  end
end
