# frozen_string_literal: true

module Cuttle
  class CLI
    # `cuttle help [COMMAND]`
    class Help
      def initialize(out:, err:)
        @out = out
        @err = err
      end

      def run(arguments)
        return CLI.command(arguments.first).new(out: @out, err: @err).run(["--help"]) if others.include?(arguments.first)

        CLI.command(arguments.first) if arguments.any? # says that it is unknown
        overview
        0
      end

      private

      def others
        COMMANDS.map(&:name) - %w[help version]
      end

      def overview
        @out.puts "Usage: cuttle COMMAND [OPTION …]", ""
        COMMANDS.each { |command| @out.puts "  #{command.name.ljust(10)} #{command.summary}" }
        @out.puts "", "cuttle COMMAND --help tells more."
      end
    end
  end
end
