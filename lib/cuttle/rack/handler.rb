# frozen_string_literal: true

module Cuttle
  module Rack
    # What `rackup -s cuttle` and `rails server -u cuttle` run. Options are rackup's (Host, Port, environment) and ours
    # in rackup's spelling: -O Engine=fibers -O Threads=1:5 -O Workers=2 -O KeepAlive=off. The environment's variables
    # count as on our own command line.
    module Handler
      # How rackup spells our options.
      OPTIONS = Settings::NAMES.to_h { |name| [name.to_s.split("_").map(&:capitalize).join.to_sym, name] }
                               .reject { |_, name| %i[path binds port environment].include?(name) }
                               .merge(Silent: :quiet, environment: :environment).freeze

      class << self
        # Serves +app+ until a signal ends it. Yields nothing: there is no server to configure once it runs.
        def run(app, **options)
          Launcher.new(settings(options), app: app).run
        rescue Error => error
          abort "cuttle: #{error.message}"
        end

        # The Settings that rackup's +options+ mean; what isn't for us (its own, other servers') is passed over.
        # Raises UsageError.
        def settings(options)
          flags = options.slice(*OPTIONS.keys).transform_keys(OPTIONS)
          flags[:quiet] = true if options.key?(:Silent)
          Settings.build(**flags, binds: [bind(options)])
        end

        # rackup prints them in its --help.
        def valid_options
          {
            "Host=HOST" => "address to listen on", "Port=PORT" => "port to listen on",
            "Engine=NAME" => "concurrency model: #{Engines.names.join(", ")}",
            "Threads=N|MIN:MAX" => "threads that run the app", "Workers=N|auto" => "processes to fork",
            "Silent" => "say nothing at the start"
          }
        end

        private

        def bind(options)
          host = options[:Host] || "127.0.0.1"
          return host if host.start_with?("unix:")

          "tcp://#{host.include?(":") ? "[#{host}]" : host}:#{options[:Port] || 9292}"
        end
      end
    end
  end
end
