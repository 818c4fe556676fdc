# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      module Charts
        # One metric of each row, divided by the published number.
        module Published
          SERVERS = ["Cuttle", "the original server"].freeze # by slot

          module_function

          # A figure, or nil if there is nothing to draw.
          def figure(metric, rows)
            compared = rows.filter_map { |row| row.value(metric) }.select { |each| each.ratio&.positive? }
            items = compared.map { |each| item(each, compared) }
            title = "#{Figures.title(metric)}, ours by the published"
            legend = [0, 1].select { |slot| items.map(&:slot).include?(slot) }.map { |slot| [slot, SERVERS[slot]] }
            Cuttle::Report::Charts::Ratios.new(title, "times what was published", items).to_html(title, legend: legend)
          end

          def item(comparison, all)
            alike = all.select { |each| named(each) == named(comparison) }
            load = comparison.condition.load_name
            name = [named(comparison), *(load if alike.length > 1)].join(", ")
            numbers = [comparison.published, comparison.ours.value]
            figure = numbers.map { |each| Figures.text(comparison.metric, each) }.join(" → ")
            Cuttle::Report::Charts::Rows::Item.new(
              name: name, figure: figure, value: comparison.estimate,
              slot: comparison.condition.server == Findings::OURS ? 0 : 1,
              text: "#{name}, #{load}: #{figure}, #{Figures.ratio(comparison.estimate)} times"
            )
          end

          def named(comparison)
            "#{comparison.entry.row.id} #{comparison.condition.name}"
          end
        end

        # Shows a mean only if there is no median.
        register "published", at: 20 do |table, _, rows|
          metrics = table.metrics.select { |metric| table.published?(metric) }
          metrics -= ["mean"] if metrics.include?("p50")
          metrics.map { |metric| Published.figure(metric, rows) }
        end
      end
    end
  end
end
