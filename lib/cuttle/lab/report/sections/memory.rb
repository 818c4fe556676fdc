# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # The memory of each configuration under one load: a bar with a part for each process.
        class Memory < Charts::Bars
          GAP = 1.5 # between processes

          def initialize(view, load)
            sizes = view.rows(load).map do |row|
              [row.configuration.name, processes(view.runs(row.configuration, load))]
            end
            super("Proportional set size, #{load.name}", "PSS, a part for each process", items(sizes))
          end

          private

          # The least memory first. The value of an item is the octets of each process.
          def items(sizes)
            sizes.reject { |_, of_each| of_each.empty? }.sort_by { |_, of_each| of_each.sum }.map do |name, of_each|
              figure = Numbers.size(of_each.sum)
              figure += " in #{of_each.length} processes" unless of_each.one?
              Item.new(name: name, figure: figure, value: of_each)
            end
          end

          # Octets of each process, in the run whose total is the median.
          def processes(runs)
            sizes = runs.select(&:valid?).filter_map { |run| run.server&.fetch("pss", nil) }
            sizes = sizes.reject(&:empty?).sort_by(&:sum)
            (sizes[sizes.length / 2] || []).sort.reverse
          end

          def draw(item, y)
            from = 0
            item.value.map do |size|
              left = scale.call(from)
              from += size
              bar(left, scale.call(from) - GAP, y, 0, "#{item.name}: a process of #{Numbers.size(size)}")
            end
          end

          def label(tick)
            Numbers.tick_size(tick)
          end

          def scale
            @scale ||= Charts::Scales::Linear.around(@items.map { |item| item.value.sum }, ACROSS, zero: true)
          end
        end

        register "memory", "Memory", at: 90,
                 lead: "Proportional set size: a page that processes share counts once, in equal parts. A bar is a " \
                       "configuration, and its parts are its processes. The smallest comes first." do |view|
          grid(view) { |load| Memory.new(view, load).to_html(load.name) }
        end
      end
    end
  end
end
