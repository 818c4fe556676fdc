# frozen_string_literal: true

module Cuttle
  class Settings
    # The table as a command line: adds its options to an OptionParser, grouped under titles.
    module Help
      OPTION = 38 # characters for the longest option
      WIDTH = 77 # characters of a line of help, beside the option

      module_function

      # Adds the options to +parser+, which stores their values in +flags+ by name.
      def add(parser, flags)
        parser.summary_width = OPTION
        TABLE.reject { |row| row.flags.empty? }.chunk_while { |one, other| one.group == other.group }.each do |rows|
          parser.separator "\n#{rows.first.group}:"
          rows.each { |row| option(parser, row, flags) }
        end
      end

      # Lines about the environment variables.
      def variables
        TABLE.reject { |row| row.variables.empty? }.map do |row|
          "  #{row.flag.ljust(14)} #{[*row.variables, row.minimum].compact.join(", ")}"
        end
      end

      def option(parser, row, flags)
        parser.on(*row.flags, *lines(row)) do |value|
          value = true if value.nil? # an argument that may be left out
          row.repeated ? (flags[row.name] ||= []) << value : flags[row.name] = value
        end
      end

      # The meaning and the default. A switch that is off by default needs no default text.
      def lines(row)
        default = row.default_text
        default = nil if row.argument.nil? && default == "off"
        [row.help, ("(#{default})" if default)].compact.join(" ").scan(/\S.{0,#{WIDTH - 2}}\S(?=\s|\z)/)
      end
      private_class_method :option, :lines
    end
  end
end
