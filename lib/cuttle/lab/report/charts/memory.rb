# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # What each configuration keeps in memory under one load: a bar of as many parts as it has processes.
        class Memory < Rows
          BAR = 11
          GAP = 1.5 # between processes

          private

          def heading
            "Proportional set size, #{@load.name}"
          end

          def unit
            "PSS, a part for each process"
          end

          def items
            @items ||= @view.rows(@load).map(&:configuration).select { |each| processes(each).any? }
                            .sort_by { |each| processes(each).sum }
          end

          def name_of(configuration)
            configuration.name
          end

          def figure_of(configuration)
            sizes = processes(configuration)
            total = Numbers.size(sizes.sum)
            sizes.one? ? total : "#{total} in #{sizes.length} processes"
          end

          def svg_of(configuration, y)
            from = 0
            processes(configuration).map do |size|
              left = scale.call(from)
              from += size
              part(left, scale.call(from), y, "#{configuration.name}: a process of #{Numbers.size(size)}")
            end
          end

          def part(left, right, y, text)
            width = Charts.at([right - left - GAP, 0.5].max)
            tag(:path, tag(:title, text), class: "bar s1", d: "M#{Charts.at(left)} #{y - 5}h#{width}v#{BAR}h-#{width}z")
          end

          # Octets of each process, in the run whose total is the median one.
          def processes(configuration)
            @processes ||= {}
            @processes[configuration.id] ||= begin
              runs = @view.runs(configuration, @load).select(&:valid?).map { |run| run.server&.fetch("pss", nil) }
              sizes = runs.compact.reject(&:empty?).sort_by(&:sum)
              (sizes[sizes.length / 2] || []).sort.reverse
            end
          end

          def ticks
            scale.ticks.map { |tick| [tick, Numbers.tick_size(tick)] }
          end

          def scale
            @scale ||= Scales::Linear.around(items.map { |each| processes(each).sum }, ACROSS, zero: true)
          end
        end
      end
    end
  end
end
