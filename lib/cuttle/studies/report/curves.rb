# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # Rows of a study's table that differ only in their level: the number of connections, or of requests per second. A
      # chart draws them as a line, and a compact table has them in one row.
      module Curves
        LONG = 4 # least number of levels of a line
        COLUMNS = 5 # most levels in a table
        # Columns that distinguish published rows of one id. The others are numbers, or are part of the condition.
        NAMING = %w[run].freeze
        AMOUNTS = %i[connections rate requests].freeze

        # id: the rows' id. name: the text that distinguishes them from other rows with that id, or "". condition: of
        # one of them. points: an Array of [level, Row], in the order of levels.
        Curve = Struct.new(:id, :name, :condition, :points) do
          def levels
            points.map(&:first)
          end

          def row(level)
            points.assoc(level)&.last
          end

          # Whether it has enough levels for a line.
          def long?
            levels.uniq.length >= LONG
          end

          # The settings that its conditions have in common.
          def kind
            Curves.kind(condition)
          end
        end

        module_function

        # The curves of a Rows::Table, in the order of its rows.
        def of(table)
          by_id = table.rows.select(&:condition).group_by(&:id)
          by_id.flat_map do |id, rows|
            columns = naming(rows)
            rows.group_by { |row| [name(row, columns), kind(row.condition)] }.map do |(name, _), alike|
              points = alike.map { |row| [level(row.condition), row] }
              Curve.new(id, name, alike.first.condition, points.uniq(&:first).sort_by(&:first))
            end
          end
        end

        # Connections, or requests per second.
        def level(condition)
          condition.rate || condition.connections
        end

        def unit(condition)
          condition.rate ? "requests/s offered" : "connections"
        end

        # "10 at once", "17/s"
        def amount(level, condition)
          condition.rate ? "#{level}/s" : "#{level} at once"
        end

        def kind(condition)
          (Condition::SERVING + Condition::ASKING - AMOUNTS).map { |name| condition.public_send(name) }
        end

        # Columns that distinguish rows of one id. For trials these are all columns except the level.
        def naming(rows)
          return NAMING if rows.first.entry.row.file

          columns = rows.flat_map { |row| row.entry.row.columns.keys }.uniq - ["id"]
          columns.reject { |name| rows.all? { |row| level?(row.entry.row[name], row.condition) } }
        end

        def level?(text, condition)
          Float(text.to_s, exception: false) == level(condition)
        end

        def name(row, columns)
          columns = row.entry.row.columns.slice(*columns).compact
          return columns.values.join(", ") if row.entry.row.file

          columns.map { |name, value| "#{name.tr("_", " ")} #{value}" }.join(", ")
        end

        # The levels that a table shows: round ones, if there are many.
        def shown(levels)
          levels = levels.uniq.sort
          return levels if levels.length <= COLUMNS

          round = levels.select { |level| level.to_s.match?(/\A[125]0*\z/) }
          round.length >= 2 ? spread(round) : spread(levels)
        end

        # At most COLUMNS of the levels, with the first and the last.
        def spread(levels)
          return levels if levels.length <= COLUMNS

          Array.new(COLUMNS) { |index| levels[(index * (levels.length - 1) / (COLUMNS - 1.0)).round] }
        end
      end
    end
  end
end
