# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      module Charts
        # What was measured of rows that nobody published, of one metric, with intervals.
        class Values < Lab::Report::Charts::Rows
          NUMBERS = Lab::Report::Numbers
          # A tick's text, where it isn't a time's.
          TICKS = { "rate" => ->(value) { NUMBERS.tick_count(value) }, "spread" => ->(value) { NUMBERS.short(value) },
                    "memory" => ->(value) { NUMBERS.tick_size(value * 1e6) },
                    "cpu" => ->(value) { NUMBERS.tick_time(value / 1e3) },
                    "errors" => ->(value) { "#{NUMBERS.short(value * 100)}%" } }.freeze
          TIME = ->(value) { NUMBERS.tick_time(value) }
          WIDE = 20 # times the least: beyond that the scale is one of equal ratios

          def self.tick(metric, value)
            TICKS.fetch(metric, TIME).call(value)
          end

          # rows: Rows::Row each.
          def initialize(metric, rows)
            @metric = metric
            @rows = rows
          end

          def to_html
            Lab::Report::Charts::Figure.of(heading, svg) if items.any?
          end

          private

          def items
            @items ||= @rows.select do |row|
              value = row.value(@metric)
              value && value.published.nil? && value.ours&.value&.positive?
            end
          end

          def heading
            Figures.title(@metric)
          end

          def unit
            heading
          end

          # What tells it from the others.
          def name_of(row)
            parts(row).reject.with_index { |part, index| common[index] || part.empty? }.join(" ")
          end

          # Where a question's columns tell all of its rows, they are enough.
          def parts(row)
            @enough ||= items.map(&:told).uniq.length == items.length ? %i[id told] : %i[id told server load]
            @enough.map { |part| row.public_send(part) }
          end

          # Which of the parts are the same for all.
          def common
            @common ||= items.map { |each| parts(each) }.transpose.map { |same| same.uniq.one? && items.length > 1 }
          end

          def figure_of(row)
            Figures.estimate(@metric, ours(row))
          end

          def svg_of(row, y)
            found = ours(row)
            slot = row.cell.server == Findings::OURS ? 0 : 1
            [(whisker(found.low, found.high, y, "s#{slot + 1}") if found.interval?),
             Lab::Report::Charts::Marker.at(scale.call(found.value), y, slot, "#{name_of(row)}: #{figure_of(row)}")]
          end

          def ours(row)
            row.value(@metric).ours
          end

          def ticks
            scale.ticks.map { |tick| [tick, self.class.tick(@metric, tick)] }
          end

          def scale
            @scale ||= begin
              values = items.map { |row| ours(row).value.to_f }
              ends = items.flat_map { |row| [ours(row).low, ours(row).high] }.compact
              all = Lab::Report::Charts::Scales.with_intervals(values, ends)
              if values.max > WIDE * values.min then Lab::Report::Charts::Scales::Log.around(all, ACROSS)
              else Lab::Report::Charts::Scales::Linear.around(all, ACROSS, zero: true)
              end
            end
          end
        end
      end
    end
  end
end
