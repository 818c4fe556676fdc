# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      module Charts
        # A metric against connections or the offered rate, with at most five lines in a panel. The panel of a published
        # row has a line for each measurement: Cuttle's, the original server's, and the published one. The panel of a
        # question has the lines that the question compares.
        module Lines
          CHART = Cuttle::Report::Charts::Lines
          MOST = 5
          OURS = "Cuttle"
          PUBLISHED = "published"

          module_function

          def of_publications(curves, table)
            metrics = table.metrics.select { |metric| table.published?(metric) }
            groups = curves.group_by { |curve| [curve.id, Curves.kind(curve.points.first.last.entry.conditions.first)] }
            groups.values.product(metrics).map do |members, metric|
              first = members.first
              figure("#{first.id} #{first.condition.name}", metric, Curves.unit(first.condition),
                     measured(members, metric) + published(members, metric))
            end
          end

          # A line for each server.
          def measured(members, metric)
            members.group_by(&:kind).values.map do |alike|
              condition = alike.first.condition
              points = alike.flat_map(&:points).uniq(&:first).sort_by(&:first)
              ours(condition.server == Findings::OURS ? OURS : condition.server, condition, points, metric)
            end
          end

          def published(members, metric)
            members.uniq(&:name).map do |curve|
              name = members.map(&:name).uniq.one? ? PUBLISHED : "#{PUBLISHED} #{curve.name}"
              points = curve.points.map { |level, row| [level, middle(row.value(metric)&.published)] }
              line(name, metric, Curves.unit(curve.condition), points)
            end
          end

          # The middle represents a published range.
          def middle(number)
            number.is_a?(Array) ? number.sum / 2 : number
          end

          # Curves with one id share a panel, as many as a reader can distinguish.
          def of_questions(curves, table)
            groups = curves.group_by { |curve| [curve.id, Curves.unit(curve.condition)] }
            groups.flat_map do |(id, unit), members|
              members.each_slice(MOST).to_a.product(table.metrics).map do |some, metric|
                lines = some.map { |curve| ours(name(curve, members), curve.condition, curve.points, metric) }
                figure(id, metric, unit, lines)
              end
            end
          end

          # The text that distinguishes a curve from the others.
          def name(curve, members)
            alike = members.select { |each| each.name == curve.name }
            server = curve.condition.name if alike.length > 1 || curve.name.empty?
            [curve.name, server].compact.reject(&:empty?).join(", ")
          end

          def ours(name, condition, points, metric)
            estimates = points.map { |level, row| [level, *row.value(metric)&.ours&.to_a&.first(3)] }
            line(name, metric, Curves.unit(condition), estimates)
          end

          # points: an Array of [level, value, low, high]; all but the level may be nil.
          def line(name, metric, unit, points)
            points = points.select { |_, value| value&.positive? }.map do |level, value, low, high|
              text = "#{name}, #{level} #{unit}: #{Figures.text(metric, value)}"
              Cuttle::Report::Charts::Series::Point.new(level, value, low, high, text)
            end
            CHART::Line.new(name, points)
          end

          # A panel, or nil if there is nothing to draw. unit: the unit of the levels.
          def figure(title, metric, unit, lines)
            lines = lines.reject { |line| line.points.empty? }.first(MOST)
            levels, values = lines.flat_map(&:points).then { |points| [points.map(&:x).uniq, points.map(&:y)] }
            return if levels.length < 2

            log = Metric.fetch(metric).kind == :time && Charts.wide?(values)
            chart = CHART.new(lines, unit: unit, log: log, even: levels.length >= levels.max) do |value|
              Figures.tick(metric, value)
            end
            chart.panel("#{title}: #{Figures.title(metric)}", "#{Figures.title(metric)} against #{unit}: #{title}",
                        description(metric, lines), lines)
          end

          def description(metric, lines)
            lines.map do |line|
              "#{line.name}: #{line.points.map { |each| "#{Figures.text(metric, each.y)} at #{each.x}" }.join(", ")}."
            end.join(" ")
          end
        end

        register "lines", at: 10 do |table, curves|
          published, asked = curves.partition { |curve| curve.points.first.last.entry.row.file }
          Lines.of_publications(published, table) + Lines.of_questions(asked, table)
        end
      end
    end
  end
end
