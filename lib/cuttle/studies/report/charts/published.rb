# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      module Charts
        # Ours by what was published, row by row, of one metric.
        class Published < Lab::Report::Charts::Ratios
          # rows: Rows::Row each.
          def initialize(metric, rows)
            @metric = metric
            @rows = rows
          end

          def to_html
            Lab::Report::Charts::Figure.of(heading, svg, legend: legend) if items.any?
          end

          private

          def legend
            slots = items.map { |item| slot_of(item) }
            [[0, "our core"], [1, "the server of then"]].select { |slot, _| slots.include?(slot) }
          end

          # Reproduction each.
          def items
            @items ||= @rows.filter_map { |row| row.value(@metric) }.select { |each| each.ratio&.positive? }
          end

          def heading
            "#{Figures.title(@metric)}, ours by the published"
          end

          def unit
            "times what was published"
          end

          # With its load where it has several.
          def name_of(item)
            alike = items.select { |each| named(each) == named(item) }
            [named(item), *(item.condition.load_name if alike.length > 1)].join(", ")
          end

          def named(item)
            "#{item.entry.row.id} #{item.condition.name}"
          end

          def figure_of(item)
            "#{Figures.text(@metric, item.published)} → #{Figures.text(@metric, item.ours.value)}"
          end

          def told(item)
            "#{name_of(item)}, #{item.condition.load_name}: #{figure_of(item)}, #{Figures.ratio(item.estimate)} times"
          end

          def svg_of(item, y)
            ratio = item.estimate
            [(whisker(ratio.low, ratio.high, y, "s#{slot_of(item) + 1}") if ratio.interval?),
             Lab::Report::Charts::Marker.at(scale.call(ratio.value), y, slot_of(item), told(item))]
          end

          def slot_of(item)
            item.condition.server == Findings::OURS ? 0 : 1
          end

          def values
            items.map(&:ratio)
          end

          def ends
            items.flat_map { |item| [item.estimate.low, item.estimate.high] }.compact
          end
        end
      end
    end
  end
end
