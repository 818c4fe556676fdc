# frozen_string_literal: true

require "optparse"
require "cuttle/cli/running_server"

module Cuttle
  class CLI
    # `cuttle ctl COMMAND`: controls a running server through its control listener, or with signals if it has none.
    # The words and options are those of pumactl. Exit status 0: done; 1: not running, or failed; 2: wrong usage.
    class Ctl
      # Word => what it means.
      WORDS = {
        "status" => "say whether the server runs (exit status 0) or not (1)",
        "stats" => "print its figures, as JSON",
        "stop" => "stop it once the requests under way are answered",
        "halt" => "stop it at once",
        "restart" => "hot restart: execute the program again; listeners stay open",
        "phased-restart" => "load the app again, and replace the workers one by one",
        "reload-logs" => "open its output files again",
        "add-worker" => "start one more worker",
        "remove-worker" => "stop one worker",
        "gc" => "collect garbage, in the process that has the listener",
        "gc-stats" => "print GC.stat of that process, as JSON",
        "thread-backtraces" => "print where its threads are",
        "start" => "serve, as cuttle serve does with the configuration file"
      }.freeze

      # Another word for the same => the word.
      ALIASES = { "reload" => "phased-restart", "reopen-log" => "reload-logs", "worker-count-up" => "add-worker",
                  "worker-count-down" => "remove-worker" }.freeze

      # The options that `start` passes on => their flags of `cuttle serve`.
      SERVE = { url: "--control-url", token: "--control-token", state: "--state", pidfile: "--pidfile",
                config: "--config", environment: "--environment", directory: "--dir" }.freeze

      def initialize(out:, err:)
        @out = out
        @err = err
        @running = RunningServer.new
      end

      # Returns the exit status. Raises UsageError and Error.
      def run(arguments)
        word = parse(arguments)
        return start if word == "start"

        server = @running.find
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
        return 0 if @quiet

        @out.puts(printed?(word, answer) ? answer : "cuttle #{word == "status" ? "is #{answer}" : "#{word}: done"}")
        0
      end

      # Whether the answer itself is printed, as figures are.
      def printed?(word, answer)
        word != "status" && answer.is_a?(String) && !answer.match?(/\A\{\s*"status":/)
      end

      # The server doesn't run. To `status` this is an answer; to other commands it is an error.
      def complain(word)
        raise Error, @running.missing unless word == "status"

        @out.puts "cuttle is #{@running.missing}" unless @quiet
        1
      end

      def start
        arguments = SERVE.filter_map { |name, flag| [flag, absolute(name)] if @running.given[name] }.flatten
        CLI.command("serve").new(out: @out, err: @err).run(arguments)
      end

      # The server would look for these files in its own directory.
      def absolute(name)
        value = @running.given[name]
        case name
        when :state, :pidfile then File.expand_path(value)
        when :url then Listeners.absolute(value)
        else value
        end
      end

      def options
        OptionParser.new do |options|
          options.banner = "Usage: cuttle ctl [OPTION …] COMMAND"
          options.separator "\nCommands:"
          WORDS.each { |word, meaning| options.separator "    #{word.ljust(18)} #{meaning}" }
          options.separator "Also #{ALIASES.map { |other, word| "#{other} (#{word})" }.join(", ")}."
          @running.add(options)
          others(options)
        end
      end

      def others(options)
        options.separator "\nOther:"
        options.on("-Q", "-q", "--quiet", "print nothing but errors") { @quiet = true }
        CLI.tell_version_and_help(options, short: %w[-V])
      end
    end
  end
end
