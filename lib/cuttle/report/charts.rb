# frozen_string_literal: true

module Cuttle
  module Report
    # Charts as SVG, in a page or as files. A chart is 360 units wide: its text has its normal size on a telephone, and
    # three charts fit side by side on a screen. Colours are classes, which charts.css defines for light, dark and
    # paper. Colour is never alone: a series also has its own marker and dash.
    module Charts
      autoload :Axis, "cuttle/report/charts/axis"
      autoload :Bars, "cuttle/report/charts/bars"
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
      STYLE = File.expand_path("charts.css", __dir__)
      NAMESPACE = "http://www.w3.org/2000/svg"
      # Pixels of a file's unit, where there is room: its text is then as large as that of the document around it.
      PIXELS = 4.0 / 3

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

      # title and description: for readers who use a screen reader. alone: whether it is a file of its own, which has
      # its style with it, and a background, because a page of either scheme may show it.
      def svg(height, title, description, *content, alone: false)
        size = { xmlns: NAMESPACE, width: at(WIDTH * PIXELS), height: at(height * PIXELS) } if alone
        tag(:svg, tag(:title, title), tag(:desc, description), (background if alone), *content,
            viewBox: "0 0 #{WIDTH} #{height}", role: "img", aria_label: "#{title}. #{description}", **size.to_h)
      end

      # The style and the background of a file.
      def background
        [tag(:style, Markup::Safe.new(File.read(STYLE))), tag(:rect, class: "sheet", width: "100%", height: "100%")]
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
