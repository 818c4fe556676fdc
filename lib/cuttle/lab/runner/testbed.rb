# frozen_string_literal: true

require "fileutils"
require "tmpdir"

module Cuttle
  module Lab
    class Runner
      # The environment of a lab's servers: the prepared app, its services, the network between load and server, and a
      # temporary directory.
      class Testbed
        # Runs the block with a Testbed. give_up: returns whether to wait no longer for a server that starts. Raises
        # Failure and UsageError.
        def self.open(app, options, cores, give_up: -> { false })
          Dir.mktmpdir("cuttle-lab") do |directory|
            testbed = new(app, options, cores, directory, give_up)
            begin
              testbed.prepare
              yield testbed
            ensure
              testbed.close
            end
          end
        end

        # The started services, by name.
        attr_reader :services

        def initialize(app, options, cores, directory, give_up)
          @app = app
          @options = options
          @cores = cores
          @directory = directory
          @give_up = give_up
          @services = {}
        end

        def prepare
          raise Failure, "#{@app.name}: #{@app.unavailable}" if @app.unavailable

          @app.services.each do |name|
            @services[name] = Apps::Services.find(name).start(cores: @cores.load, **@app.settings_of(name))
          end
          @app = @app.prepare(@directory, services: @services)
        end

        def close
          @services.each_value(&:stop)
        end

        # The number of open connections to the app's database; nil without one, or if it doesn't answer.
        def database_connections
          @services["postgres"]&.open_connections
        rescue Failure
          nil
        end

        # CPU seconds that the app's services and their descendants have used so far.
        def services_cpu
          @services.each_value.sum { |service| Servers::ProcessTree.new(service.pid, orphans: false).cpu_seconds }
        end

        # The peers as they serve this app. Call it after #prepare.
        def peers
          @peers ||= @app.gemfile ? Servers::Bundled::All.new(@app, "#{@directory}/peers") : Servers::Peers
        end

        # Yields a running server of +configuration+, and the Routes from +loads+ to it. Each start has the same app
        # data. cores: the cores that the server may use. Raises Failure.
        def serve(configuration, loads, cores: @cores.server)
          @app.reset(@services)
          Machine::Warnings.await_quiet(@options.patience)
          peer = peers.find(configuration.server)
          setup = setup(configuration, @app.environment_for(fibers: peer.fibers?), cores)
          Network::Routes.open(setup.port, loads, @options, cores: @cores.load) do |routes|
            server = Servers::Server.start(peer, setup, give_up: @give_up)
            begin
              yield server, routes
            ensure
              server.stop
            end
          end
        end

        # Options of Cuttle::Load for a load of that configuration.
        def load_options(configuration, load, cores)
          mix = @options.mix || @app.mix
          { connections: load.connections, threads: [cores.load.length, load.connections].min, rate: load.rate,
            poisson: load.poisson, keep_alive: keep_alive(configuration, load), timeout: @options.timeout,
            seed: @options.seed, mix: mix }.compact
        end

        private

        # A load can also ask for connections to be closed after each response.
        def keep_alive(configuration, load)
          load.keep_alive.nil? ? configuration.keep_alive : load.keep_alive
        end

        # Sets RAILS_MAX_THREADS, by which Rails apps and others choose their number of database connections.
        def setup(configuration, environment, cores)
          threads = configuration.slots ? { "RAILS_MAX_THREADS" => configuration.threads.to_s } : {}
          env = threads.merge(environment, configuration.environment || {})
          Plan::Configurations.setup(configuration.to_h, port: Servers::Ports.free, app: @app.rackup,
                                                         directory: @app.directory, env: env, cores: cores,
                                                         log: log(configuration))
        end

        def log(configuration)
          File.join(@directory, "#{configuration.id}.log")
        end
      end
    end
  end
end
