# frozen_string_literal: true

require "open3"

module Cuttle
  module Lab
    module Apps
      module Services
        # A PostgreSQL of the lab's own: Debian's server on a new cluster in a temporary directory, reached by a Unix
        # socket in it and by nobody else. It holds the work app's table; an app with a database of its own makes that
        # itself.
        #
        # It is set up for measuring and for nothing that has to last: no fsync, no autovacuum, no just-in-time compiler.
        class Postgres < Daemon
          PROGRAM = "#{__dir__}/postgres_program.rb"
          USER = "cuttle"
          CONNECTIONS = 200
          COUNTS = (5..1000).freeze # it does not start with three

          # Where its programs are: the newest of Debian's, or those on PATH.
          def self.programs
            directories = Dir["/usr/lib/postgresql/*/bin"].sort_by { |path| path[/\d+/].to_i }.reverse
            directories += ENV.fetch("PATH", "").split(File::PATH_SEPARATOR)
            directories.find { |path| %w[initdb postgres psql].all? { |name| File.executable?("#{path}/#{name}") } }
          end

          def self.unavailable
            "PostgreSQL's server is not installed (Debian: postgresql)" unless programs
          end

          # A number of connections, as a profile has it. Raises UsageError.
          def self.count(text)
            number = Integer(text.to_s, 10, exception: false)
            return number if COUNTS.cover?(number)

            raise UsageError, "profile: connections: a whole number from #{COUNTS.begin} to #{COUNTS.end}, " \
                              "not #{text.inspect}"
          end

          # connections: the most it takes. Raises Lab::Failure.
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

          # The temporary directory, which goes with it.
          def directory
            @child.words.first
          end

          # Of a database, for libpq and for Rails.
          def url(database)
            "postgresql:///#{database}?host=#{directory}&port=5432&user=#{USER}"
          end

          # For the work app, and for the forum.
          def environment
            { "WORK_DATABASE" => url("work"), "DATABASE_URL" => url("forum") }
          end

          # Runs SQL by psql; returns what it printed, fields separated by |. Raises Lab::Failure.
          def run(sql, database: "postgres")
            command = ["#{self.class.programs}/psql", "-XqAt", "-v", "ON_ERROR_STOP=1", url(database)]
            output, status = Open3.capture2e(*command, stdin_data: sql)
            status.success? ? output : raise(Failure, "postgres: #{output.lines.first.to_s.strip}")
          end

          def make_work_table
            run("CREATE DATABASE work")
            run(WorkApp::Database::TABLE, database: "work")
          end

          # Makes +database+ again what it was when this was first called for it. Raises Lab::Failure.
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
