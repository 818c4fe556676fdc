# frozen_string_literal: true

module Cuttle
  module Lab
    module Apps
      # Services that an app needs beside its server. The lab starts each in its own process, which ends when the lab
      # does, in whatever way. A service has `start` (raises Lab::Failure), `environment` (variables for the app),
      # `stop`, and `unavailable` (why it can't run here and what to do, or nil).
      module Services
        autoload :Child, "cuttle/lab/apps/services/child"
        autoload :Postgres, "cuttle/lab/apps/services/postgres"

        # The class called +name+ ("postgres", "renderer", "upstream", or one that was added).
        def self.find(name)
          { "postgres" => Postgres, "renderer" => Renderer, "upstream" => Upstream, **@added.to_h }.fetch(name.to_s) do
            raise UsageError, "no service #{name} (postgres, renderer, upstream)"
          end
        end

        # Adds a service from outside the table.
        def self.add(name, service)
          (@added ||= {})[name] = service
        end

        # What services share: a Child, and the port if that is the first word that the child prints.
        class Daemon
          def initialize(child)
            @child = child
          end

          def pid
            @child.pid
          end

          # The port on 127.0.0.1.
          def port
            @child.words.first.to_i
          end

          def stop
            @child.stop
          end
        end

        # A Node.js process that renders photos for the album app, one page at a time, for all workers of a server.
        class Renderer < Daemon
          PROGRAM = "#{Apps::STUDIED}/album/render.js"
          NAMES = %w[node nodejs].freeze

          # Path of Node.js, or nil.
          def self.node
            NAMES.filter_map { |name| Machine.program(name) }.first
          end

          def self.unavailable
            "Node.js is not installed (Debian: nodejs)" unless node
          end

          # Raises Lab::Failure.
          def self.start(cores: nil)
            raise Failure, "renderer: #{unavailable}" if unavailable

            new(Child.start(PROGRAM, cores: cores, by: [node]))
          end

          # Variables for the album app.
          def environment
            { "ALBUM_RENDERER" => "127.0.0.1:#{port}" }
          end
        end

        # A slow HTTP service on a port of 127.0.0.1. It answers each GET after +delay_ms+, or after the request's own
        # delay_ms. It serves any number of requests at the same time.
        class Upstream < Daemon
          PROGRAM = "#{__dir__}/services/upstream_program.rb"

          def self.unavailable
            nil
          end

          # Raises Lab::Failure.
          def self.start(delay_ms: 50, cores: nil)
            new(Child.start(PROGRAM, delay_ms, cores: cores))
          end

          def url
            "http://127.0.0.1:#{port}/"
          end

          # Variables for the work app.
          def environment
            { "WORK_UPSTREAM" => url }
          end
        end
      end
    end
  end
end
