# frozen_string_literal: true

require "csv"

module Cuttle
  module Studies
    # The published numbers: studies/published/*.csv, whose README names the sources and the columns.
    module Published
      # Column => the lab's name for it, and what makes its unit the lab's (requests per second, milliseconds).
      METRICS = { "rps" => "rate", "mean_ms" => "mean", "p50_ms" => "p50", "p90_ms" => "p90", "p99_ms" => "p99" }.freeze
      # What was published as a range.
      RANGES = { "rate" => %w[rps_min rps_max] }.freeze

      # A line of a file. values: metric => number, or [low, high] where a range was published.
      Row = Struct.new(:file, :line, :columns) do
        def [](name)
          columns[name]
        end

        # In which line of which file, for messages.
        def place
          file ? "#{file}, line #{line}" : "trial #{id}"
        end

        # Of no publication: what tells it from the others of its id, as text; "" where it is the only one.
        def told
          columns.except("id").map { |name, value| "#{name.tr("_", " ")} #{value}" }.join(", ")
        end

        def id
          columns["id"]
        end

        # A column as a whole number, or nil where it has none.
        def number(name)
          Integer(columns[name].to_s, 10, exception: false)
        end

        def values
          single = METRICS.to_h { |column, metric| [metric, Float(columns[column].to_s, exception: false)] }.compact
          ranges = RANGES.to_h { |metric, names| [metric, names.map { |name| Float(columns[name].to_s, exception: false) }] }
          single.merge(ranges.select { |_, range| range.all? })
        end
      end

      module_function

      # Row each of a file. Raises Failure.
      def rows(file, root = ROOT)
        CSV.read("#{root}/published/#{file}", headers: true).map.with_index(2) { |row, line| Row.new(file, line, row.to_h) }
      rescue SystemCallError, CSV::MalformedCSVError => error
        raise Failure, "published/#{file}: #{error.message}"
      end

      # Names of the files with numbers.
      def files(root = ROOT)
        Dir.children("#{root}/published").grep(/\As.*\.csv\z/).sort
      end

      # Id => the sentence that was claimed.
      def claims(root = ROOT)
        CSV.read("#{root}/published/claims.csv", headers: true).to_h { |row| [row["study"], row["claim"]] }
      end
    end
  end
end
