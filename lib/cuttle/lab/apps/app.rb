# frozen_string_literal: true

require "rbconfig"
require "tempfile"

module Cuttle
  module Lab
    module Apps
      # An app, and how it is served. Frozen.
      #   rackup       its rackup file; or, for servers that need none, a directory of files
      #   directory    the server's working directory
      #   environment  variables for the server
      #   gemfile      the Gemfile of its own bundle; nil if it needs only Rack
      #   services     names of the Services that it needs
      #   mix          path of its requests for `cuttle load --mix`; nil: GET /
      #   profile      parameters of the work app, and PostgreSQL's limit of connections
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

        # This app with a PostgreSQL that accepts at most that many connections. Raises UsageError.
        def limited_to(connections)
          on_postgres = services.include?("postgres")
          raise UsageError, "profile: connections is only for apps on PostgreSQL, not #{name}" unless on_postgres

          with(profile: profile.merge(CONNECTIONS => Services::Postgres.count(connections)))
        end

        # Options to start that service with.
        def settings_of(service)
          service == "postgres" ? profile.slice(CONNECTIONS).transform_keys(&:to_sym) : {}
        end

        # Why the app can't be served here and what to do, or nil if it can.
        def unavailable
          return "#{rackup} does not exist" unless File.exist?(rackup)

          services.filter_map { |name| Services.find(name).unavailable }.first
        end

        # Returns the app ready to be served, with its data below +workspace+ (an empty directory) and its whole
        # environment. services: the started services, by name. ruby: the Ruby that will serve it. Raises Lab::Failure.
        def prepare(_workspace, services: {}, **)
          with(environment: environment.merge(*self.services.map { |name| services.fetch(name).environment }))
        end

        # Restores the data that #prepare made. services: the started services, by name. Raises Lab::Failure.
        def reset(_services); end

        # Variables for a server. fibers: whether a fiber answers each request; only some apps need to know.
        def environment_for(fibers:) # rubocop:disable Lint/UnusedMethodArgument
          environment
        end

        private

        # Runs one of the app's programs in its directory, with its own bundle only. Raises Lab::Failure with the last
        # lines of the output.
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
