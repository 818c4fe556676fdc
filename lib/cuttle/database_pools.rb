# frozen_string_literal: true

module Cuttle
  # The pools of database connections of a loaded app, held against the threads that will want connections: a thread
  # more than there are connections waits for one, and times out at last.
  module DatabasePools
    class << self
      # One line for each pool that has fewer connections than +threads+. Empty if there is none that we know of.
      def short(threads)
        [*active_record, *sequel].filter_map do |name, size|
          next if size.nil? || size >= threads

          "#{name} has #{size} connection#{"s" unless size == 1} for #{threads} threads: some will wait for one. " \
            "Give the pool #{threads}, or start with -t #{size}"
        end
      end

      private

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
