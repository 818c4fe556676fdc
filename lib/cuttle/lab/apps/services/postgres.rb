# frozen_string_literal: true

require "open3"

module Cuttle
  module Lab
    module Apps
      module Services
        # The lab's own PostgreSQL: Debian's server with a new cluster in a temporary directory, on a Unix socket that
        # only its owner can reach. It contains the work app's table. An app with its own database creates that database
        # itself.
        #
        # Its settings favour measuring over durability: no fsync, no autovacuum, no just-in-time compiler.
        class Postgres < Daemon
          PROGRAM = "#{__dir__}/postgres_program.rb"
          USER = "cuttle"
          CONNECTIONS = 200
          COUNTS = (5..1000) # PostgreSQL does not start with three

          # The directory of its programs: the newest of Debian's, or one on the PATH.
          def self.programs
            directories = Dir["/usr/lib/postgresql/*/bin"].sort_by { |path| path[/\d+/].to_i }.reverse
            directories += ENV.fetch("PATH", "").split(File::PATH_SEPARATOR)
            directories.find { |path| %w[initdb postgres psql].all? { |name| File.executable?("#{path}/#{name}") } }
          end

          def self.unavailable
            "PostgreSQL's server is not installed (Debian: postgresql)" unless programs
          end

          # Checks a number of connections in a profile. Raises UsageError.
          def self.count(text)
            number = Integer(text.to_s, 10, exception: false)
            return number if COUNTS.cover?(number)

            raise UsageError, "profile: connections: a whole number from #{COUNTS.begin} to #{COUNTS.end}, " \
                              "not #{text.inspect}"
          end

          # connections: the limit of connections. Raises Lab::Failure.
          def self.start(cores: nil, connections: CONNECTIONS)
            raise Failure, "postgres: #{unavailable}" if unavailable

            service = new(Child.start(PROGRAM, programs, USER, connections, cores: cores))
            begin
              service.make_work_table
            rescue Failure
              service.stop
              raise
            end
            service
          end

          # Its temporary directory, which is removed at the stop.
          def directory
            @child.words.first
          end

          # The URL of a database, for libpq and for Rails.
          def url(database)
            "postgresql:///#{database}?host=#{directory}&port=5432&user=#{USER}"
          end

          # Variables for the work app and the forum.
          def environment
            { "WORK_DATABASE" => url("work"), "DATABASE_URL" => url("forum") }
          end

          # Runs SQL with psql and returns the output, with fields separated by |. Raises Lab::Failure.
          def run(sql, database: "postgres")
            command = ["#{self.class.programs}/psql", "-XqAt", "-v", "ON_ERROR_STOP=1", url(database)]
            output, status = Open3.capture2e(*command, stdin_data: sql)
            status.success? ? output : raise(Failure, "postgres: #{output.lines.first.to_s.strip}")
          end

          OPEN = "SELECT count(*) FROM pg_stat_activity " \
                 "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
          private_constant :OPEN

          # Number of open connections, not including this one. Raises Lab::Failure.
          def open_connections
            Integer(run(OPEN))
          end

          def make_work_table
            run("CREATE DATABASE work")
            run(WorkApp::Database::TABLE, database: "work")
          end

          # Restores +database+ to its state at the first call of this method. Raises Lab::Failure.
          def restore(database)
            filled = "#{database}_filled"
            if (@kept ||= []).include?(database)
              run("DROP DATABASE #{database} WITH (FORCE)")
            else
              run("ALTER DATABASE #{database} RENAME TO #{filled}")
              @kept << database
            end
            run("CREATE DATABASE #{database} TEMPLATE #{filled}")
          end
        end
      end
    end
  end
end
