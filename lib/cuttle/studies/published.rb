# frozen_string_literal: true

module Cuttle
  module Studies
    # The published numbers: studies/published/*.csv, whose README names the sources and the columns.
    module Published
      # Column => the lab's name for it; the units are the lab's (requests per second, milliseconds).
      METRICS = { "rps" => "rate", "mean_ms" => "mean", "p50_ms" => "p50", "p90_ms" => "p90", "p99_ms" => "p99" }.freeze
      # Metrics that were published as ranges.
      RANGES = { "rate" => %w[rps_min rps_max] }.freeze

      # A line of a file. values: metric => number, or [low, high] if a range was published.
      Row = Struct.new(:file, :line, :columns) do
        def [](name)
          columns[name]
        end

        # The file and line, for messages.
        def place
          file ? "#{file}, line #{line}" : "trial #{id}"
        end

        # For rows that were not published: the text that distinguishes the row from others with its id; "" if it is the
        # only one.
        def settings
          columns.except("id").map { |name, value| "#{name.tr("_", " ")} #{value}" }.join(", ")
        end

        def id
          columns["id"]
        end

        # A column as a whole number, or nil if it is empty.
        def number(name)
          Integer(columns[name].to_s, 10, exception: false)
        end

        def values
          single = METRICS.to_h { |column, metric| [metric, Float(columns[column].to_s, exception: false)] }.compact
          ranges = RANGES.to_h do |metric, names|
            [metric, names.map { |name| Float(columns[name].to_s, exception: false) }]
          end
          single.merge(ranges.select { |_, range| range.all? })
        end
      end

      module_function

      # The Rows of a file. Raises Failure.
      def rows(file, root = ROOT)
        records(file, root).map.with_index(2) { |record, line| Row.new(file, line, record) }
      end

      # Names of the files with numbers.
      def files(root = ROOT)
        Dir.children("#{root}/published").grep(/\As.*\.csv\z/).sort
      end

      # Id => the sentence of the claim.
      def claims(root = ROOT)
        records("claims.csv", root).to_h { |record| record.values_at("study", "claim") }
      end

      # Reads a file without quotes: only the last column may have commas. Returns { column => text, nil if empty } for
      # each line. below: its directory in root.
      def records(file, root, below: "published")
        file = [below, file].compact.join("/")
        header, *lines = File.readlines("#{root}/#{file}", chomp: true, encoding: "UTF-8")
        columns = header.to_s.split(",")
        lines.map.with_index(2) do |line, number|
          fields = line.split(",", columns.length)
          raise Failure, "#{file}, line #{number}: too few fields" if fields.length < columns.length

          columns.zip(fields.map { |field| field unless field.empty? }).to_h
        end
      rescue SystemCallError => error
        raise Failure, "#{file}: #{error.message}"
      end
    end
  end
end
