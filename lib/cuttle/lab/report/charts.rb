# frozen_string_literal: true

module Cuttle
  module Lab
    module Report
      # Inline SVG, made here. A chart is 360 units wide, so that its text has its size on a telephone and three stand
      # side by side on a screen. Colours are classes (style.css has them for light, dark and paper), and never alone:
      # a series has a shape of marker and a dash too.
      module Charts
        autoload :Against, "cuttle/lab/report/charts/against"
        autoload :Axis, "cuttle/lab/report/charts/axis"
        autoload :Dots, "cuttle/lab/report/charts/dots"
        autoload :Figure, "cuttle/lab/report/charts/figure"
        autoload :Forest, "cuttle/lab/report/charts/forest"
        autoload :Frame, "cuttle/lab/report/charts/frame"
        autoload :Marker, "cuttle/lab/report/charts/marker"
        autoload :Memory, "cuttle/lab/report/charts/memory"
        autoload :Percentiles, "cuttle/lab/report/charts/percentiles"
        autoload :Ratios, "cuttle/lab/report/charts/ratios"
        autoload :Rows, "cuttle/lab/report/charts/rows"
        autoload :Scales, "cuttle/lab/report/charts/scales"
        autoload :Series, "cuttle/lab/report/charts/series"
        autoload :Timeline, "cuttle/lab/report/charts/timeline"

        WIDTH = 360

        module_function

        # A coordinate: tenths of a unit are finer than a screen.
        def at(value)
          rounded = value.round(1)
          rounded == rounded.to_i ? rounded.to_i : rounded
        end

        # Coordinates one after the other, for a path.
        def points(pairs)
          pairs.map { |x, y| "#{at(x)} #{at(y)}" }.join("L")
        end
      end
    end
  end
end
