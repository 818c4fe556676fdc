# frozen_string_literal: true

module Cuttle
  module Studies
    module Report
      module Charts
        # What claims say, measured: each statement's ratio with its interval, over the range that it should lie in.
        class Claims < Lab::Report::Charts::Ratios
          # statement, found and decided as in a verdict's evidence.
          Item = Struct.new(:id, :by, :statement, :found, :decided)
          # By what became of it: the series that it looks like.
          SLOTS = { confirmed: 2, refuted: 1, undecided: 0 }.freeze
          TITLE = "What was claimed, measured"

          def initialize(verdicts)
            @verdicts = verdicts
          end

          def to_html
            Lab::Report::Charts::Figure.of(TITLE, svg, legend: legend) if items.any?
          end

          private

          def legend
            there = items.map(&:decided)
            Findings::WORDS.filter_map { |decided, word| [SLOTS.fetch(decided), word] if there.include?(decided) }
          end

          def items
            @items ||= @verdicts.flat_map do |verdict|
              measured = verdict.evidence.select { |_, found, _| found&.value&.positive? }
              measured.map { |evidence| Item.new(verdict.claim.id, verdict.by, *evidence) }
            end
          end

          def heading
            TITLE
          end

          def unit
            "ratio; shaded: as it was claimed"
          end

          def name_of(item)
            "#{item.id} #{item.statement.text}#{", on #{item.by}" unless item.by == Summary::OURS}"
          end

          def figure_of(item)
            Figures.ratio(item.found)
          end

          def svg_of(item, y)
            slot = SLOTS.fetch(item.decided)
            found = item.found
            [claimed(item.statement.range, y), (whisker(found.low, found.high, y, "s#{slot + 1}") if found.interval?),
             mark(item, slot, y)]
          end

          def mark(item, slot, y)
            x = scale.call(item.found.value)
            Lab::Report::Charts::Marker.at(x, y, slot, told(item), hollow: slot.zero?, radius: 4.2)
          end

          def told(item)
            "#{name_of(item)}: #{figure_of(item)}, to be #{item.statement.bounds}: #{Findings::WORDS[item.decided]}"
          end

          def claimed(range, y)
            left, right = [range.begin || scale.low, range.end || scale.high].map do |bound|
              Lab::Report::Charts.at(scale.within(bound))
            end
            tag(:path, class: "claimed", d: "M#{left} #{y - 8}H#{right}V#{y + 8}H#{left}z")
          end

          def description
            items.map { |item| "#{told(item)}." }.join(" ")
          end

          # What was asked for is on the scale as well.
          def values
            items.flat_map { |item| [item.found.value, item.statement.range.begin, item.statement.range.end] }
                 .compact.select(&:positive?)
          end

          def ends
            items.flat_map { |item| [item.found.low, item.found.high] }.compact
          end
        end
      end
    end
  end
end
