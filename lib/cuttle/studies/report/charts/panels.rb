# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      module Charts
        # Which lines are in one panel. Of a publication: what it says, once for each time that it was measured, ours,
        # and the server of then. Of a question: what it compares.
        module Panels
          OURS = "our core"
          PUBLISHED = "published"

          module_function

          # curves: those that are worth drawing. Figures.
          def of(curves, table)
            published, asked = curves.partition { |curve| curve.points.first.last.entry.row.file }
            [*of_publications(published, table), *of_questions(asked, table)]
          end

          def of_publications(curves, table)
            metrics = table.metrics.select { |metric| table.published?(metric) }
            groups = curves.group_by { |curve| [curve.id, Curves.kind(curve.points.first.last.entry.conditions.first)] }
            groups.values.product(metrics).map do |members, metric|
              first = members.first
              Lines.new("#{first.id} #{first.cell.name}", metric, Curves.unit(first.cell),
                        measured(members, metric) + published(members, metric)).to_html
            end
          end

          # A line for each server.
          def measured(members, metric)
            members.group_by(&:kind).values.map do |alike|
              cell = alike.first.cell
              points = alike.flat_map(&:points).uniq(&:first).sort_by(&:first)
              line(cell.server == Findings::OURS ? OURS : cell.server, points, metric)
            end
          end

          def published(members, metric)
            members.uniq(&:name).map do |curve|
              name = members.map(&:name).uniq.one? ? PUBLISHED : "#{PUBLISHED} #{curve.name}"
              points = curve.points.map { |level, row| [level, middle(row.value(metric)&.published)] }
              Lines::Line.new(name, points)
            end
          end

          # Of a range.
          def middle(number)
            number.is_a?(Array) ? number.sum / 2 : number
          end

          # Those of one id together, as many as can be told from each other.
          def of_questions(curves, table)
            groups = curves.group_by { |curve| [curve.id, Curves.unit(curve.cell)] }
            groups.flat_map do |(id, unit), members|
              members.each_slice(Lines::MOST).to_a.product(table.metrics).map do |some, metric|
                lines = some.map { |curve| line(name(curve, members), curve.points, metric) }
                Lines.new(id, metric, unit, lines).to_html
              end
            end
          end

          # What tells it from the others.
          def name(curve, members)
            alike = members.select { |each| each.name == curve.name }
            server = curve.cell.name if alike.length > 1 || curve.name.empty?
            [curve.name, server].compact.reject(&:empty?).join(", ")
          end

          def line(name, points, metric)
            Lines::Line.new(name, points.map do |level, row|
              found = row.value(metric)&.ours
              [level, found&.value, found&.low, found&.high]
            end)
          end
        end
      end
    end
  end
end
