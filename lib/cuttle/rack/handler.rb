# frozen_string_literal: true

require "shellwords"
require "tmpdir"

module Cuttle
  module Rack
    # The handler of `rackup -s cuttle` and `rails server -u cuttle`. Its options are rackup's (Host, Port, environment)
    # and ours in rackup's spelling: -O Engine=threads -O Threads=1:5 -O Workers=2 -O KeepAlive=off. Environment
    # variables apply as on our own command line.
    module Handler
      # Settings for which rackup has its own options.
      ITS_OWN = %i[path binds port environment].freeze

      ADDRESS = %i[Host Port].freeze

      # rackup's options for a daemon.
      DAEMON = %w[-D --daemonize --daemonize-noclose].freeze

      # Our options, by rackup's spelling of their names.
      ROWS = Settings::TABLE.reject { |row| ITS_OWN.include?(row.name) }
                            .to_h { |row| [row.name.to_s.split("_").map(&:capitalize).join.to_sym, row] }.freeze

      # Options that rackup may pass => the name of the setting.
      OPTIONS = ROWS.transform_values(&:name).merge(Silent: :quiet, environment: :environment).freeze

      # The program that has loaded the app, and has set the environment variables for it. +commands+ is the value of
      # Restart.noted, if this process' command line is not the one to execute again. +pidfile+ is the path of the
      # program's own pidfile, or nil.
      Host = Struct.new(:commands, :pidfile) do
        # Call it in a forked process: rackup would remove the file at the end of each process that has this String. An
        # at_exit block can't be removed, and the app's own blocks must run.
        def close
          pidfile.clear unless pidfile.nil? || pidfile.frozen?
        end
      end

      class << self
        # Serves +app+ until a signal stops it. Yields nothing: a running server can't be configured. Returns the exit
        # status. rackup and Rails drop it, so if it is not 0 the process exits here, as at an Error. But a program that
        # serves in a thread of its own goes on.
        def run(app, **options)
          configuration = file(options)
          host = Host.new(commands(options), options[:pid])
          status = Launcher.new(settings(options, configuration), app: app, configuration: configuration,
                                                                  host: host).run
          exit status unless status.zero? || Thread.current != Thread.main
          status
        rescue Error => error
          abort "cuttle: #{error.message}"
        end

        # Makes `rails server` and `rackup` use Cuttle if the user names no server. They look for Puma and Falcon first,
        # so if the bundle has one of these, it stays the default.
        def offer(variables = ENV)
          return if %w[puma falcon].any? { |name| Gem.loaded_specs.key?(name) }

          %w[RACKUP_HANDLER RACK_HANDLER].each { |name| variables[name] ||= "cuttle" } # of Rack 3, and of Rack 2
        end

        # The Settings for rackup's +options+, and for a +configuration+ file if there is one. Options that aren't ours
        # (rackup's own, other servers') are ignored. Raises UsageError.
        def settings(options, configuration = file(options))
          flags = flags(options)
          flags[:binds] = [bind(options)] unless configuration && default_address?(options, configuration)
          Settings.build(configuration: configuration, variables: variables(options), **flags)
        end

        # As `rails server` names the server that it starts.
        def to_s = "Cuttle"

        # The options that rackup prints in its --help.
        def valid_options
          { "Host=HOST" => "address to listen on, or unix:///path", "Port=PORT" => "port to listen on" }
            .merge(ROWS.to_h { |name, row| ["#{name}=#{row.argument || "on|off"}", row.help] },
                   "Silent" => "say nothing at the start")
        end

        private

        # `rails server` says how to restart it: its --restart removes the pidfile, which names this process. A
        # rehearsal must leave that file alone, so it gets one of its own. A daemon stays a daemon over an exec, and
        # must not become another process, so its restart gets no option for that.
        def commands(options)
          unless (command = options[:restart_cmd]&.shellsplit)
            return { command: options[:daemonize] ? command_line&.-(DAEMON) : command_line }
          end

          command -= %w[-d --daemon]
          pidfile = "#{Dir.tmpdir}/cuttle-rehearsal-#{Process.pid}.pid"
          { command: command, rehearsal: command - %w[--restart] + ["-P", pidfile] }
        end

        # rackup removes its arguments from ARGV. Bundler still has them if it loaded rackup into its own process.
        def command_line
          Restart.command_line do
            ObjectSpace.each_object(::Bundler::CLI::Exec).first&.args&.grep(String) if defined?(::Bundler::CLI::Exec)
          end
        end

        # The Configuration, or nil.
        def file(options)
          Configuration.of(flags(options), variables(options))
        end

        def flags(options)
          flags = options.slice(*OPTIONS.keys).transform_keys(OPTIONS)
          flags.delete(:environment) if default_environment?(options)
          flags
        end

        # The environment's variables. rackup also writes its default into RACK_ENV.
        def variables(options)
          default_environment?(options) ? ENV.to_h.except("RACK_ENV") : ENV
        end

        # Whether the environment may be only rackup's default. `rails server` passes the one that Rails has.
        def default_environment?(options)
          options[:environment] == "development" && !options.key?(:user_supplied_options)
        end

        # Whether Host and Port are only the defaults of rackup or of `rails server`, which the file overrides.
        # `rails server` names the options that the user gave.
        def default_address?(options, configuration)
          given = options[:user_supplied_options] || ADDRESS
          !given.intersect?(ADDRESS) && configuration.values.keys.intersect?(%i[binds port])
        end

        # Host and Port are rackup's own options and have defaults. Both may be missing if a program calls.
        def bind(options)
          host = options[:Host] || "127.0.0.1"
          return host if host.start_with?("unix:")

          port = options[:Port] || Settings.row(:port).default
          "tcp://#{host.include?(":") ? "[#{host}]" : host}:#{port}"
        end
      end
    end
  end
end
