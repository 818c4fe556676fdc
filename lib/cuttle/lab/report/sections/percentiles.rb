# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Sections
        # Response times by percentile under one load, all valid runs together: a panel for each group of
        # configurations, with the others in grey behind it. A curve ends where fewer than ten values lie beyond,
        # because its rest would be chance.
        class Percentiles
          def initialize(view, load)
            @view = view
            @load = load
            lines = view.originals.to_h { |each| [each, Charts::Percentiles.line(each.name, curve(each))] }
            @lines = lines.reject { |_, line| line.points.empty? }
            @chart = Charts::Percentiles.new(@lines.values)
          end

          # Markup, or nil if there is nothing to draw.
          def to_html
            Charts.grid(@view.groups.filter_map { |group| panel(group) }) unless @chart.empty?
          end

          private

          def panel(group)
            drawn = @lines.slice(*group.configurations)
            return if drawn.empty?

            @chart.described(group.name, "Response times by percentile, #{@load.name}: #{group.name}", drawn.values,
                             behind: @lines.except(*drawn.keys).values)
          end

          # { percentile => nanoseconds }
          def curve(configuration)
            runs = @view.runs(configuration, @load).select(&:valid?)
            Load::Histograms.curve(Load::Histograms.sum(runs.filter_map(&:histogram)))
          end
        end

        register "percentiles", "Percentile curves", at: 70,
                 lead: "Response times of all valid runs together. A curve ends where fewer than ten values lie " \
                       "beyond it." do |view|
          by_load(view) { |load| Percentiles.new(view, load).to_html }
        end
      end
    end
  end
end
