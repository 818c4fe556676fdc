# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # All figures: a group of rows for each load, with the highest rate first.
        module Table
          extend Markup

          CAPTION = "All configurations under each load"
          LEAD = "Medians of the runs, with 95% intervals below them. A run is one start of a server."

          module_function

          def content(view)
            bodies = view.loads.map { |load| body(view, load) }
            table = tag(:table, tag(:caption, CAPTION), header, bodies, class: "results")
            safe(Sheet.lead("#{LEAD} #{ratio(view)}"), Sheet.scrolling(CAPTION, table))
          end

          def ratio(view)
            return unless view.base

            "ratio: the rate (under a load with a given rate, p95) divided by that of #{view.base.name}; in " \
              "parentheses if there is no measurable difference."
          end

          def header
            columns = Report::Table::COLUMNS.map do |column|
              tag(:th, column.name, scope: "col", title: column.meaning)
            end
            tag(:thead, tag(:tr, tag(:th, "configuration", scope: "col"), columns))
          end

          def body(view, load)
            width = Report::Table::COLUMNS.length + 1
            rows = view.rows(load)
            most = rows.filter_map { |row| row.rate&.value }.max
            tag(:tbody, tag(:tr, tag(:th, load.name, colspan: width, scope: "rowgroup"), class: "load"),
                rows.map { |row| row(view, row, most) })
          end

          def row(view, row, most)
            cells = Report::Table.cells(row, view)
            tag(:tr, tag(:th, name(row), scope: "row"), bar(cells.first, row, most),
                cells.drop(1).map { |each| cell(each) })
          end

          def name(row)
            copy = tag(:small, "control: the same again") if row.configuration.control_of
            [options(row.configuration.name), copy]
          end

          # A line may break before an option, but not within it.
          def options(name)
            name.split(/ (?=-)/).map { |part| [tag(:span, part, class: ("option" if part.start_with?("-"))), " "] }
          end

          # The rate, with a bar behind it that shows its share of the highest rate.
          def bar(cell, row, most)
            share = row.rate&.value && most&.positive? ? (100.0 * row.rate.value / most).round : 0
            cell(cell, class: "rate", style: "--share:#{share}%")
          end

          def cell(cell, **attributes)
            tag(:td, cell.figure, (tag(:small, cell.interval) if cell.interval), **attributes)
          end
        end

        register("table", "Table", at: 30) { |view| Table.content(view) if view.loads.any? }
      end
    end
  end
end
