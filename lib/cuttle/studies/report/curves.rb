# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      # Rows of a study's table that differ in how much is asked for, and in nothing else: what a chart draws as a line,
      # and a table of many rows has beside each other.
      module Curves
        LONG = 4 # levels that make a line worth drawing
        COLUMNS = 5 # levels that a table has room for
        # Columns that tell what a published row is, beside its id; the others are its numbers, or are in the cell.
        TELLING = %w[run].freeze
        AMOUNTS = %i[connections rate requests].freeze

        # id: of the rows. name: what else tells them from others of that id, "" where nothing does. cell: one of its
        # cells. points: [level, Row] each, the levels going up.
        Curve = Struct.new(:id, :name, :cell, :points) do
          def levels
            points.map(&:first)
          end

          def row(level)
            points.assoc(level)&.last
          end

          # Whether it is worth drawing.
          def long?
            levels.uniq.length >= LONG
          end

          # What it is measured on: all that a cell has but the amounts.
          def kind
            Curves.kind(cell)
          end
        end

        module_function

        # Curve each, of a Rows::Table, in the order of its rows.
        def of(table)
          by_id = table.rows.select(&:cell).group_by(&:id)
          by_id.flat_map do |id, rows|
            columns = telling(rows)
            rows.group_by { |row| [name(row, columns), kind(row.cell)] }.map do |(name, _), alike|
              points = alike.map { |row| [level(row.cell), row] }
              Curve.new(id, name, alike.first.cell, points.uniq(&:first).sort_by(&:first))
            end
          end
        end

        # How much is asked for: connections, or requests per second.
        def level(cell)
          cell.rate || cell.connections
        end

        def unit(cell)
          cell.rate ? "requests/s offered" : "connections"
        end

        # "10 at once", "17/s"
        def amount(level, cell)
          cell.rate ? "#{level}/s" : "#{level} at once"
        end

        def kind(cell)
          (Condition::SERVING + Condition::ASKING - AMOUNTS).map { |name| cell.public_send(name) }
        end

        # Columns that tell rows of one id from each other: of trials all but the one that is their level.
        def telling(rows)
          return TELLING if rows.first.entry.row.file

          columns = rows.flat_map { |row| row.entry.row.columns.keys }.uniq - ["id"]
          columns.reject { |name| rows.all? { |row| level?(row.entry.row[name], row.cell) } }
        end

        def level?(text, cell)
          Float(text.to_s, exception: false) == level(cell)
        end

        def name(row, columns)
          told = row.entry.row.columns.slice(*columns).compact
          row.entry.row.file ? told.values.join(", ") : told.map { |name, value| "#{name.tr("_", " ")} #{value}" }.join(", ")
        end

        # Of all levels those that a table shows: round ones, where there are many.
        def shown(levels)
          levels = levels.uniq.sort
          return levels if levels.length <= COLUMNS

          round = levels.select { |level| level.to_s.match?(/\A[125]0*\z/) }
          round.length >= 2 ? spread(round) : spread(levels)
        end

        # At most so many of them, the first and the last among them.
        def spread(levels)
          return levels if levels.length <= COLUMNS

          Array.new(COLUMNS) { |index| levels[(index * (levels.length - 1) / (COLUMNS - 1.0)).round] }
        end
      end
    end
  end
end
