# frozen_string_literal: true

module Cuttle
  module Lab
    class WorkApp
      # Queries PostgreSQL over a pool of connections. Only this app needs the pg gem.
      class Database
        BUCKETS = 500
        ROWS = 20 # per bucket
        ITEMS = "SELECT id, title, body FROM work_items"

        # SQL that creates the table for #read. The code that starts the database runs it
        # (Lab::Apps::Services::Postgres).
        TABLE = <<~SQL
          CREATE TABLE work_items (id integer PRIMARY KEY, bucket integer NOT NULL,
                                   title text NOT NULL, body text NOT NULL);
          INSERT INTO work_items SELECT id, id % #{BUCKETS}, 'Item ' || id, repeat(md5(id::text), 8)
            FROM generate_series(0, #{BUCKETS * ROWS - 1}) AS id;
          CREATE INDEX work_items_bucket ON work_items (bucket);
          ANALYZE work_items;
        SQL

        # Raises Unavailable if the gem is missing.
        def self.require_driver
          require "pg"
        rescue LoadError
          raise Unavailable.new(503, "query: the pg gem is missing (gem install pg)")
        end

        # +url+: a URL for libpq.
        def initialize(url, size)
          self.class.require_driver
          raise Unavailable.new(503, "query: WORK_DATABASE is not set (a PostgreSQL URL)") if url.to_s.empty?

          @pool = Pool.new(size) { PG.connect(url) }
        end

        # Sleeps in the database.
        def sleep(seconds)
          ask("SELECT pg_sleep($1)", seconds)
        end

        # Reads the rows of a random bucket. seconds: extra time that the query spends in the database.
        def read(seconds = 0)
          return ask("#{ITEMS} WHERE bucket = $1 ORDER BY id", rand(BUCKETS)) if seconds.zero?

          ask("#{ITEMS}, pg_sleep($2) WHERE bucket = $1 ORDER BY id", rand(BUCKETS), seconds)
        end

        private

        def ask(sql, *values)
          @pool.with { |connection| connection.exec_params(sql, values).values }
        rescue PG::Error => error
          raise Unavailable.new(503, "query: #{error.message.lines.first.to_s.strip}")
        end
      end

      # Holds at most +size+ connections. Each is opened when it is first needed, and used by one thread or fiber at a
      # time. If none is free, the caller waits.
      class Pool
        # The block opens a connection.
        def initialize(size, &connect)
          @connect = connect
          @places = Thread::Queue.new
          size.times { @places << nil } # a place without a connection yet
        end

        # Yields a connection. If the block raises, that connection is not used again.
        def with
          place = @places.pop
          begin
            connection = place || @connect.call
            place = nil
            result = yield connection
            place = connection
            result
          ensure
            @places << place
          end
        end
      end
    end
  end
end
