# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      module Charts
        # A chart on the page: its title, its legend, its drawing.
        module Figure
          extend Markup

          module_function

          # legend: [[slot, text]], empty where there is nothing to tell apart.
          def of(title, drawing, legend: [])
            list = tag(:ul, legend.map { |slot, text| tag(:li, Marker.swatch(slot), text) }, class: "legend")
            tag(:figure, tag(:figcaption, tag(:strong, title), (list if legend.any?)), drawing)
          end

          # Figures side by side, as many as there is room for.
          def grid(figures)
            tag(:div, figures, class: "charts")
          end

          def svg(height, title, description, *content)
            tag(:svg, tag(:title, title), tag(:desc, description), *content,
                viewBox: "0 0 #{WIDTH} #{height}", role: "img", aria_label: "#{title}. #{description}")
          end
        end
      end
    end
  end
end
