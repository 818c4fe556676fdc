# frozen_string_literal: true

require "optparse"

module Cuttle
  class CLI
    # `cuttle serve [PATH]`: turns options into Settings, and Settings into a server. The options are those of
    # Settings::TABLE. Options that Puma also has use Puma's names (-v logs requests, -V prints the version).
    class Serve
      def initialize(out:, err:)
        @out = out
        @err = err
      end

      # Serves until a signal stops it. Returns the exit status. Raises UsageError and Error.
      def run(arguments)
        flags = parse(arguments)
        configuration = Configuration.of(flags)
        start(Settings.build(configuration: configuration, **flags), configuration)
      end

      private

      # PATH is stronger than an app that the file made.
      def start(settings, configuration)
        app = configuration&.app unless settings.origin(:path) == :flag
        Launcher.new(settings, app: app, configuration: configuration, out: @out, err: @err).run
      end

      # The given flags.
      def parse(arguments)
        flags = {}
        paths = CLI.parse(options(flags), arguments)
        raise UsageError, "one PATH only, not #{paths.join(" ")}" if paths.length > 1

        flags[:path] = paths.first if paths.any?
        flags
      end

      def command = "serve"

      def options(flags)
        OptionParser.new do |options|
          options.banner = "Usage: cuttle #{command} [PATH] [OPTION …]"
          options.separator "PATH is a rackup file or a directory of files. The default is config.ru in this directory."
          Settings::Help.add(options, flags)
          CLI.tell_version_and_help(options, short: %w[-V])
          options.separator "\n#{catalogue}"
        end
      end

      # The list of engines, parsers and servers.
      def catalogue
        [
          "0 or none turns a limit or a timeout off, except that --shutdown-timeout 0 means: do not wait.",
          "SIZE is in octets: 512, 64K, 16M, 1G.", "",
          "Engines:", *lines(Engines), "", "Parsers:", *lines(Http::Parsers), "", "Servers for --like:", *likes, "",
          "Environment variables; options override them, the first one that is set counts:", *Settings::Help.variables
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
