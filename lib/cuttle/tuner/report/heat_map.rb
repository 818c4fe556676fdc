# frozen_string_literal: true

module Cuttle
  module Tuner
    module Report
      # A table of capacities, workers by threads. A deeper colour of a cell means a capacity nearer to the best.
      module HeatMap
        extend Markup

        DEEPEST = 45 # percent of the colour, so that the figure stays legible

        module_function

        # map: an Advice::Map. chosen: { label => Setting }, the settings to mark.
        def render(map, chosen)
          caption = "#{map.engine}: requests/s at most, #{Steps.units(map.engine)} by threads"
          head = tag(:tr, tag(:th, "", scope: "col"), map.threads.map { |count| tag(:th, "-t #{count}", scope: "col") })
          rows = map.workers.zip(map.rows).map { |workers, capacities| row(map, workers, capacities, chosen) }
          table = tag(:table, tag(:caption, caption), tag(:thead, head), tag(:tbody, rows), class: "heat")
          Sheet.scrolling(caption, table)
        end

        def row(map, workers, capacities, chosen)
          most = map.rows.flatten.compact.max
          cells = map.threads.zip(capacities).map do |threads, value|
            setting = Setting.new(engine: map.engine, workers: workers, threads: threads)
            cell(value, most, mark(setting, chosen), "-t #{threads}")
          end
          tag(:tr, tag(:th, Setting.new(engine: map.engine, workers: workers).units, scope: "row"), cells)
        end

        # Finds -t auto with any --max-threads.
        def mark(setting, chosen)
          chosen.find { |_, each| each.beside?(setting) && each.threads == setting.threads }&.first
        end

        # label: the column's name, which a narrow screen shows in each cell.
        def cell(value, most, mark, label)
          share = value && most.positive? ? (DEEPEST * value / most).round : 0
          tag(:td, Numbers.rate(value), (tag(:small, mark) if mark),
              style: "--share:#{share}%", class: ("chosen" if mark), data_label: label)
        end
      end
    end
  end
end
