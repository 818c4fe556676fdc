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
        name = CLI.question(arguments.first || "help")
        return overview if %w[help version].include?(name)

        CLI.command(name).new(out: @out, err: @err).run(["--help"])
      end

      private

      def overview
        @out.puts "Usage: cuttle COMMAND [OPTION …]", ""
        COMMANDS.each { |command| @out.puts "  #{command.name.ljust(10)} #{command.summary}" }
        @out.puts "", "cuttle COMMAND --help describes a command."
        0
      end
    end
  end
end
