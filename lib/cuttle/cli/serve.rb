# frozen_string_literal: true

require "optparse"

module Cuttle
  class CLI
    # `cuttle serve [PATH]`: options into Settings, Settings into a server. Options that Puma has are spelled as Puma's
    # (-v logs requests, -V is the version).
    class Serve
      def initialize(out:, err:)
        @out = out
        @err = err
      end

      # Serves until a signal ends it. Returns the exit status; raises UsageError and Error.
      def run(arguments)
        flags = parse(arguments)
        return flags if flags.is_a?(Integer)

        Launcher.new(Settings.build(**flags), out: @out, err: @err).run
      end

      private

      # The flags that were said, or an exit status where one of them was a question and has been answered.
      def parse(arguments)
        flags = {}
        catch(:answered) do
          paths = options(flags).parse(arguments)
          raise UsageError, "one PATH only, not #{paths.join(" ")}" if paths.length > 1

          flags[:path] = paths.first if paths.any?
          flags
        end
      rescue OptionParser::ParseError => error
        raise UsageError, error.message
      end

      def options(flags)
        OptionParser.new do |options|
          options.banner = "Usage: cuttle serve [PATH] [OPTION …]"
          options.separator "PATH is a rackup file, or a directory of files; without it, config.ru here."
          groups(options, flags)
          options.separator "\n#{catalogue}"
        end
      end

      def groups(options, flags)
        group(options, "Where to listen") { listening(options, flags) }
        group(options, "How to serve") { model(options, flags) }
        group(options, "What to serve") { content(options, flags) }
        group(options, "How long to wait, in seconds") { patience(options, flags) }
        group(options, "What to say") { output(options, flags) }
      end

      def group(options, title)
        options.separator "\n#{title}:"
        yield
      end

      def listening(options, flags)
        options.on("-b", "--bind URI", "tcp://host:port or unix:///path; may be given again") do |uri|
          (flags[:binds] ||= []) << uri
        end
        on(options, flags, :port, "-p", "--port PORT", "9292; on 127.0.0.1 in development and test, else everywhere")
      end

      def model(options, flags)
        on(options, flags, :engine, "--engine NAME", "hybrid, or one of the engines below")
        on(options, flags, :workers, "-w", "--workers N", "processes to fork; auto: one per CPU we may use; 0: none")
        on(options, flags, :threads, "-t", "--threads N|MIN:MAX", "threads that run the app in each process (3);",
           "0: one per connection (engine threads)")
        on(options, flags, :max_fibers, "--max-fibers N", "requests at once in a process of engine fibers (1024)")
        on(options, flags, :parser, "--parser NAME", "native, or one of the parsers below")
        on(options, flags, :keep_alive, "--[no-]keep-alive", "let connections persist (yes, but for engine single)")
        on(options, flags, :like, "--like SERVER", "that server's model and habits; see below")
      end

      def content(options, flags)
        on(options, flags, :docroot, "--docroot DIR", "serve DIR's files before the app is asked")
        on(options, flags, :environment, "-e", "--environment ENV", "RACK_ENV (development)")
      end

      def patience(options, flags)
        on(options, flags, :request_timeout, "--request-timeout S", "for a whole request (30)")
        on(options, flags, :idle_timeout, "--idle-timeout S", "for the next request on a connection (65)")
        on(options, flags, :write_timeout, "--write-timeout S", "for a client to take more of a response (30)")
        on(options, flags, :shutdown_timeout, "--shutdown-timeout S", "for requests under way when told to stop (25)")
      end

      def output(options, flags)
        on(options, flags, :log_requests, "-v", "--log-requests", "a line for each request, on standard output")
        on(options, flags, :quiet, "-q", "--quiet", "nothing at the start")
        on(options, flags, :debug, "--debug", "backtraces of what goes wrong")
        CLI.tell_version(options, "-V")
        options.on("-h", "--help", "this") do
          @out.puts(options)
          throw :answered, 0
        end
      end

      def on(options, flags, name, *definition)
        options.on(*definition) { |value| flags[name] = value }
      end

      # Engines, parsers and servers there are.
      def catalogue
        [
          "Engines (the default is hybrid):", *lines(Engines), "",
          "Parsers (the default is native):", *lines(Http::Parsers), "",
          "Servers for --like:", *likes, "",
          "Environment variables, which options overrule: WEB_CONCURRENCY, RAILS_MIN_THREADS and RAILS_MAX_THREADS,",
          "PORT, and the first of APP_ENV, RACK_ENV and RAILS_ENV."
        ].join("\n")
      end

      def lines(table)
        table.names.map { |name| "  #{name.ljust(10)} #{table.describe(name)}" }
      end

      def likes
        Settings::LIKES.keys.each_slice(6).map { |names| "  #{names.join(", ")}" }
      end
    end
  end
end
