# frozen_string_literal: true

module Cuttle
  class CLI
    # The running server that a command means (advise, ctl, top): the options that name it, and how to reach it: through
    # its control listener, or with signals if it has none.
    class RunningServer
      # What was given, by the option's name.
      attr_reader :given

      # Why #find found no server.
      attr_reader :missing

      def initialize
        @given = {}
      end

      # Adds the options to an OptionParser.
      def add(options)
        options.separator "\nWhich server (by default, the one that the configuration file names):"
        options.on("-S", "--state FILE", "its state file") { |path| @given[:state] = path }
        options.on("-P", "--pidfile FILE", "its pidfile") { |path| @given[:pidfile] = path }
        options.on("-p", "--pid PID", Integer, "its process id") { |pid| @given[:pid] = pid(pid) }
        options.on("-C", "--control-url URL", "its control listener") { |url| @given[:url] = url }
        options.on("-T", "--control-token TOKEN", "the listener's token, or CUTTLE_CONTROL_TOKEN") do |token|
          @given[:token] = token
        end
        options.on("-F", "--config FILE", "its configuration file") { |path| @given[:config] = path }
        options.on("-e", "--environment ENV", "its environment") { |name| @given[:environment] = name }
        options.on("--dir DIR", "its directory, if its command line names one") { |path| @given[:directory] = path }
      end

      # A Control::Client, or a Control::ByPid; nil, with the reason in #missing, if the server doesn't run. Raises
      # UsageError if nothing says which server, and Error.
      def find
        if @given[:url] then Control::Client.new(@given[:url], token)
        elsif @given[:state] then by_state(@given[:state])
        elsif @given[:pidfile] then by_pidfile(@given[:pidfile])
        elsif @given[:pid] then Control::ByPid.new(@given[:pid])
        else
          configured
        end
      end

      private

      def configured
        settings = configuration
        if settings.state_path then by_state(settings.state_path)
        elsif ![nil, "auto"].include?(settings.control_url)
          Control::Client.new(settings.control_url, settings.control_token)
        elsif settings.pidfile then by_pidfile(settings.pidfile)
        else
          raise UsageError, "which server? Give -S, -P, -p or -C, or set state_path or pidfile in config/cuttle.rb"
        end
      end

      def configuration
        flags = @given.slice(:config, :environment, :directory)
        file = Configuration.of(flags)
        # Without a listener in the file, the state file may still lead to one.
        flags[:control_token] = @given[:token] if file&.values&.key?(:control_url)
        Settings.build(configuration: file, **flags)
      end

      def by_state(path)
        pid = holder(path, "state file") or return
        state = PidFile::State.parse(File.read(path))
        url = state["control_url"] or return Control::ByPid.new(pid)
        Control::Client.new(url, token || state["control_auth_token"])
      end

      def by_pidfile(path)
        holder(path, "pidfile")&.then { |pid| Control::ByPid.new(pid) }
      end

      # The pid of the server that holds the file; nil if none does.
      def holder(path, name)
        pid = PidFile.owner(path) and return pid
        @missing = "not running (#{File.exist?(path) ? "stale" : "no"} #{name} #{path})"
        nil
      end

      def token
        @given[:token] || Settings.row(:control_token).heard(ENV)&.last
      end

      def pid(number)
        number.positive? ? number : raise(UsageError, "-p #{number}: give a process id")
      end
    end
  end
end
