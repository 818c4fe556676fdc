# frozen_string_literal: true

module Cuttle
  class Settings
    # The tables of documents as Markdown, each between two markers. `rake readme` writes them.
    module Readme
      # Each name is also the method that makes the table. The file is its source.
      TABLES = { options: "lib/cuttle/settings/table.rb", engines: "lib/cuttle/engines.rb",
                 parsers: "lib/cuttle/http/parsers.rb", presets: "lib/cuttle/settings/likes.rb",
                 words: "lib/cuttle/settings/table.rb", metrics: "lib/cuttle/telemetry/metrics/table.rb" }.freeze

      # Each document and its tables.
      DOCUMENTS = { "README.md" => %i[options engines parsers], "docs/configuration.md" => %i[words],
                    "docs/engines.md" => %i[presets], "docs/observability.md" => %i[metrics] }.freeze

      module_function

      # The +text+ of +document+ with the current tables. Raises Error if a marker is missing.
      def update(document, text)
        DOCUMENTS.fetch(document).reduce(text) do |updated, name|
          replace(updated, name) do |marker|
            raise Error, "#{document} has no place for the #{name}: #{marker.chomp}"
          end
        end
      end

      # The options of `cuttle serve`.
      def options
        rows = TABLE.reject { |row| row.flags.empty? }.map { |row| [flags(row), meaning(row), default(row)] }
        table(%w[option meaning default], rows)
      end

      # The words of a configuration file. Their document is in docs/ itself.
      def words
        rows = TABLE.reject { |row| row.words.empty? }.map do |row|
          [row.words.map { |word| code(word) }.join(", "), row.flags.empty? ? "" : code(row.flag),
           meaning(row).gsub("](docs/", "](")]
        end
        table(%w[word option meaning], rows)
      end

      # The engines, each with the presets of --like that select it.
      def engines
        rows = Engines.names.map do |name|
          [code(name), Engines.describe(name), LIKES.select { |_, preset| preset[:engine] == name }.keys.join(", ")]
        end
        table(["engine", "model, and what to use it for", "the model of"], rows)
      end

      # The HTTP parsers.
      def parsers
        table(%w[parser description], Http::Parsers.names.map { |name| [code(name), Http::Parsers.describe(name)] })
      end

      # The metrics of GET /metrics.
      def metrics
        rows = Telemetry::Metrics::TABLE.map do |metric|
          [code(metric.name), [metric.type, metric.unit].compact.join(", "),
           metric.labels.map { |label| code(label) }.join(", "), metric.help]
        end
        table(["metric", "type, unit", "labels", "meaning"], rows)
      end

      # The presets of --like. Those with the same values share a row.
      def presets
        rows = LIKES.keys.group_by { |name| LIKES.fetch(name) }.map do |preset, names|
          [names.join(", "), preset[:engine], preset[:workers].to_s, threads(preset), keep_alive(preset)]
        end
        table(%w[server engine workers threads keep-alive], rows)
      end

      def replace(text, name)
        beginning, ending = markers(name)
        before, _, rest = text.partition(beginning)
        _, found, after = rest.partition(ending)
        yield beginning if found.empty?

        [before, beginning, public_send(name), ending, after].join
      end

      def markers(name)
        ["<!-- #{name}: written by rake readme from #{TABLES.fetch(name)} -->\n", "<!-- end of #{name} -->\n"]
      end

      def table(head, rows)
        [head, head.map { "---" }, *rows].map { |cells| "#{line(cells)}\n" }.join
      end

      def line(cells)
        cells.map { |cell| "| #{cell.gsub("|", "\\|")} " }.join.squeeze(" ") << "|"
      end

      def meaning(row)
        row.readme || row.help
      end

      def flags(row)
        row.flags.map { |flag| code(flag) }.join(", ")
      end

      def default(row)
        [row.default_text, variables(row)].compact.join(", or ")
      end

      def variables(row)
        names = row.variables.map { |name| code(name) }
        return if names.empty?
        return "#{code(row.minimum)} to #{names.first}" if row.minimum

        names.one? ? names.first : "the first of #{names.join(", ")}"
      end

      def threads(preset)
        range = preset[:threads] or return ""
        return "one per connection" if range.max.zero?

        range.minmax.uniq.join(":")
      end

      # "off", "on", or "on, 5 s" if the idle timeout is not the default.
      def keep_alive(preset)
        seconds = preset[:idle_timeout]
        seconds = nil if seconds == Settings.row(:idle_timeout).default
        [preset[:keep_alive] ? "on" : "off", ("#{seconds} s" if seconds)].compact.join(", ")
      end

      def code(text)
        "`#{text}`"
      end
      private_class_method :replace, :markers, :table, :line, :meaning, :flags, :default, :variables, :threads,
                           :keep_alive, :code
    end
  end
end
