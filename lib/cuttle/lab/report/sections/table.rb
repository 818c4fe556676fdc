# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # All figures: the rows of each load, in groups by how they compare with the best.
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
            most = view.rows(load).filter_map { |row| row.rate&.value }.max
            tag(:tbody, tag(:tr, tag(:th, load.name, colspan: width, scope: "rowgroup"), class: "load"),
                view.ranked(load).map { |title, rows| group(view, title, rows, width, most) })
          end

          # Rows below their heading, if there is one.
          def group(view, title, rows, width, most)
            heading = tag(:tr, tag(:th, title, colspan: width, scope: "rowgroup"), class: "group") if title
            [heading, rows.map { |row| row(view, row, most) }]
          end

          def row(view, row, most)
            first, *others = Report::Table.cells(row, view).zip(Report::Table::COLUMNS.map(&:name))
            tag(:tr, tag(:th, name(row), scope: "row"), bar(*first, row, most), others.map { |each| cell(*each) })
          end

          def name(row)
            copy = tag(:small, "control: repeated") if row.configuration.control_of
            [options(row.configuration.name), copy]
          end

          # A line may break before an option, but not within it.
          def options(name)
            name.split(/ (?=-)/).map { |part| [tag(:span, part, class: ("option" if part.start_with?("-"))), " "] }
          end

          # The rate, with a bar behind it that shows its share of the highest rate.
          def bar(cell, column, row, most)
            share = row.rate&.value && most&.positive? ? (100.0 * row.rate.value / most).round : 0
            cell(cell, column, class: "rate", style: "--share:#{share}%")
          end

          # column: its name, for narrow screens.
          def cell(cell, column, **attributes)
            tag(:td, cell.figure, (tag(:small, cell.interval) if cell.interval), data_label: column, **attributes)
          end
        end

        register("table", "Table", at: 30) { |view| Table.content(view) if view.loads.any? }
      end
    end
  end
end
