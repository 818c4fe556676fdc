# frozen_string_literal: true

require "rbconfig"
require "tempfile"

module Cuttle
  module Lab
    module Apps
      # An app, and what it is served with. Frozen.
      #   rackup       its rackup file
      #   directory    the server's working directory
      #   environment  variables for the server
      #   gemfile      of its own bundle; nil where it needs no gem but Rack
      #   services     names of the Services that it needs
      #   mix          path of its requests for `cuttle load --mix`; nil: GET /
      #   profile      parameters of the work app, and how many connections PostgreSQL takes
      class App
        ATTRIBUTES = %i[name rackup directory environment gemfile services mix profile].freeze

        attr_reader(*ATTRIBUTES)

        def initialize(name:, rackup:, directory: File.dirname(rackup), environment: {}, gemfile: nil, services: [],
                       mix: nil, profile: {})
          @name = name
          @rackup = rackup
          @directory = directory
          @environment = environment.freeze
          @gemfile = gemfile
          @services = services.freeze
          @mix = mix
          @profile = profile.freeze
          freeze
        end

        # This app with other attributes.
        def with(**changes)
          self.class.new(**ATTRIBUTES.to_h { |name| [name, public_send(name)] }, **changes)
        end

        # This app on a PostgreSQL that takes so many connections. Raises UsageError.
        def limited_to(connections)
          on_postgres = services.include?("postgres")
          raise UsageError, "profile: connections is for apps on PostgreSQL, not for #{name}" unless on_postgres

          with(profile: profile.merge(CONNECTIONS => Services::Postgres.count(connections)))
        end

        # What that service is started with.
        def settings_of(service)
          service == "postgres" ? profile.slice(CONNECTIONS).transform_keys(&:to_sym) : {}
        end

        # nil, or why it can't be served here, and what to do.
        def unavailable
          return "#{rackup} is not there" unless File.file?(rackup)

          services.filter_map { |name| Services.find(name).unavailable }.first
        end

        # The app, ready to be served: its data made below +workspace+, an empty directory of the lab's, and its
        # environment complete. services: those that it needs, started, by name. ruby: the one that will serve it.
        # Raises Lab::Failure.
        def prepare(_workspace, services: {}, **)
          with(environment: environment.merge(*self.services.map { |name| services.fetch(name).environment }))
        end

        # Makes its data again what they were when it was prepared. services: as there. Raises Lab::Failure.
        def reset(_services); end

        # Variables for a server. fibers: whether a fiber answers each request.
        def environment_for(fibers:)
          environment
        end

        private

        # Runs a program of the app's, in its directory and with its bundle and nobody else's. Raises Lab::Failure with
        # the last line of what it said.
        def run(*command, environment: self.environment, output: File::NULL)
          log = Tempfile.new("cuttle-app")
          bundle = gemfile ? { "BUNDLE_GEMFILE" => gemfile } : {}
          done = system(Apps.clean.merge(environment, bundle), *command, chdir: directory, out: output, err: log.path)
          return if done

          raise Failure, "#{name}: #{File.basename(command.first)}: #{Servers::Server.last_words(log.read)}"
        ensure
          log&.close!
        end
      end
    end
  end
end
