# frozen_string_literal: true

module Cuttle
  class Settings
    # The table as Markdown, for README.md, between two markers.
    module Readme
      BEGINNING = "<!-- options: written by rake readme from lib/cuttle/settings/table.rb -->\n"
      ENDING = "<!-- end of options -->\n"

      module_function

      # README's +text+ with the current table. Raises Error if the markers are missing.
      def update(text)
        before, _, rest = text.partition(BEGINNING)
        _, ending, after = rest.partition(ENDING)
        raise Error, "README.md has no place for the options: #{BEGINNING.chomp}" if ending.empty?

        [before, BEGINNING, table, ENDING, after].join
      end

      def table
        rows = TABLE.reject { |row| row.flags.empty? }.map { |row| [flags(row), row.readme || row.help, default(row)] }
        [%w[option meaning default], %w[--- --- ---], *rows].map { |cells| "#{line(cells)}\n" }.join
      end

      def line(cells)
        cells.map { |cell| "| #{cell.gsub("|", "\\|")} " }.join.squeeze(" ") << "|"
      end

      def flags(row)
        row.flags.map { |flag| "`#{flag}`" }.join(", ")
      end

      def default(row)
        [row.default_text, variables(row)].compact.join(", or ")
      end

      def variables(row)
        names = row.variables.map { |name| "`#{name}`" }
        return if names.empty?
        return "`#{row.minimum}` to #{names.first}" if row.minimum

        names.one? ? names.first : "the first of #{names.join(", ")}"
      end
      private_class_method :line, :flags, :default, :variables
    end
  end
end
