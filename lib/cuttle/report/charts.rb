# frozen_string_literal: true

module Cuttle
  module Report
    # Charts as inline SVG. A chart is 360 units wide: its text has its normal size on a telephone, and three charts fit
    # side by side on a screen. Colours are classes, which style.css defines for light, dark and paper. Colour is never
    # alone: a series also has its own marker and dash.
    module Charts
      autoload :Axis, "cuttle/report/charts/axis"
      autoload :Frame, "cuttle/report/charts/frame"
      autoload :Lines, "cuttle/report/charts/lines"
      autoload :Marker, "cuttle/report/charts/marker"
      autoload :Percentiles, "cuttle/report/charts/percentiles"
      autoload :Ratios, "cuttle/report/charts/ratios"
      autoload :Rows, "cuttle/report/charts/rows"
      autoload :Scales, "cuttle/report/charts/scales"
      autoload :Series, "cuttle/report/charts/series"
      autoload :Timeline, "cuttle/report/charts/timeline"

      WIDTH = 360

      extend Markup

      module_function

      # A chart with its title and its legend. legend: [[slot of a series, its name]]; empty if no legend is needed.
      def figure(title, drawing, legend: [])
        list = tag(:ul, legend.map { |slot, text| tag(:li, Marker.swatch(slot), text) }, class: "legend")
        tag(:figure, tag(:figcaption, tag(:strong, title), (list if legend.any?)), drawing)
      end

      # Figures side by side, as many as fit.
      def grid(figures)
        tag(:div, figures, class: "charts")
      end

      # title and description: for readers who use a screen reader.
      def svg(height, title, description, *content)
        tag(:svg, tag(:title, title), tag(:desc, description), *content,
            viewBox: "0 0 #{WIDTH} #{height}", role: "img", aria_label: "#{title}. #{description}")
      end

      # A coordinate, rounded to a tenth of a unit, which is finer than a screen.
      def at(value)
        rounded = value.round(1)
        rounded == rounded.to_i ? rounded.to_i : rounded
      end

      # Coordinates for a path.
      def points(pairs)
        pairs.map { |x, y| "#{at(x)} #{at(y)}" }.join("L")
      end
    end
  end
end
