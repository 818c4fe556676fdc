# frozen_string_literal: true

require "optparse"

module Cuttle
  class CLI
    # `cuttle ctl COMMAND`: controls a running server, by its control listener, or by signals where it has none. The
    # words and options are those of pumactl. Exit status 0: done; 1: not running, or failed; 2: wrong usage.
    class Ctl
      # Word => what it means.
      WORDS = {
        "status" => "say whether the server runs (exit status 0) or not (1)",
        "stats" => "print its figures, as JSON",
        "stop" => "stop it once the requests under way are answered",
        "halt" => "stop it at once",
        "restart" => "replace it in place; its listeners stay open",
        "phased-restart" => "replace its workers one by one",
        "reload-logs" => "reopen its log files",
        "add-worker" => "start one more worker",
        "remove-worker" => "stop one worker",
        "gc" => "collect garbage, in the process that has the listener",
        "gc-stats" => "print what that process' collector counts, as JSON",
        "thread-backtraces" => "tell where its threads are",
        "start" => "serve, as cuttle serve does with the configuration file"
      }.freeze

      # Another word for the same => the word.
      ALIASES = { "reload" => "phased-restart", "reopen-log" => "reload-logs", "worker-count-up" => "add-worker",
                  "worker-count-down" => "remove-worker" }.freeze

      # What `start` passes on, and the flags of `cuttle serve` for it.
      SERVE = { url: "--control-url", token: "--control-token", state: "--state", pidfile: "--pidfile",
                config: "--config", environment: "--environment" }.freeze

      def initialize(out:, err:)
        @out = out
        @err = err
        @given = {}
      end

      # Returns the exit status. Raises UsageError and Error.
      def run(arguments)
        word = parse(arguments)
        return start if word == "start"

        server = find
        server ? tell(server, word) : complain(word)
      end

      private

      def parse(arguments)
        words = CLI.parse(options, arguments)
        raise UsageError, "give one command: #{WORDS.keys.join(", ")}" unless words.length == 1

        ALIASES.fetch(words.first, words.first).tap do |word|
          raise UsageError, "unknown command #{word}: #{WORDS.keys.join(", ")}" unless WORDS.key?(word)
        end
      end

      def tell(server, word)
        answer = word == "status" ? server.status : server.call(word)
        return 0 if @given[:quiet]

        @out.puts(printed?(word, answer) ? answer : "cuttle #{word == "status" ? "is #{answer}" : "#{word}: done"}")
        0
      end

      # Figures are printed as they come.
      def printed?(word, answer)
        word != "status" && answer.is_a?(String) && !answer.match?(/\A\{\s*"status":/)
      end

      # That a server doesn't run answers a question for its status. Otherwise it is an error.
      def complain(word)
        raise Error, @missing unless word == "status"

        @out.puts "cuttle is #{@missing}" unless @given[:quiet]
        1
      end

      def start
        arguments = SERVE.filter_map { |name, flag| [flag, @given[name]] if @given[name] }.flatten
        CLI.command("serve").new(out: @out, err: @err).run(arguments)
      end

      # What to talk to; nil, with the reason in @missing, if the server doesn't run.
      def find
        if @given[:url] then Control::Client.new(@given[:url], token)
        elsif @given[:state] then by_state(@given[:state])
        elsif @given[:pidfile] then by_pidfile(@given[:pidfile])
        elsif @given[:pid] then Control::ByPid.new(@given[:pid])
        else
          configured
        end
      end

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
        flags = @given.slice(:config, :environment)
        Settings.build(configuration: Configuration.of(flags), **flags)
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

      def options
        OptionParser.new do |options|
          options.banner = "Usage: cuttle ctl [OPTION …] COMMAND"
          options.separator "\nCommands:"
          WORDS.each { |word, meaning| options.separator "    #{word.ljust(18)} #{meaning}" }
          options.separator "Also #{ALIASES.map { |other, word| "#{other} (#{word})" }.join(", ")}."
          servers(options)
          others(options)
        end
      end

      def servers(options)
        options.separator "\nWhich server; without one of these, the one of the configuration file:"
        options.on("-S", "--state FILE", "its state file") { |path| @given[:state] = path }
        options.on("-P", "--pidfile FILE", "its pidfile") { |path| @given[:pidfile] = path }
        options.on("-p", "--pid PID", Integer, "its process id") { |pid| @given[:pid] = pid(pid) }
        options.on("-C", "--control-url URL", "its control listener") { |url| @given[:url] = url }
        options.on("-T", "--control-token TOKEN", "the listener's token, or CUTTLE_CONTROL_TOKEN") do |token|
          @given[:token] = token
        end
        options.on("-F", "--config FILE", "its configuration file") { |path| @given[:config] = path }
        options.on("-e", "--environment ENV", "its environment") { |name| @given[:environment] = name }
      end

      def others(options)
        options.separator "\nOther:"
        options.on("-Q", "-q", "--quiet", "print nothing but errors") { @given[:quiet] = true }
        CLI.tell_version_and_help(options, short: %w[-V])
      end

      def pid(number)
        number.positive? ? number : raise(UsageError, "-p #{number}: give a process id")
      end
    end
  end
end
