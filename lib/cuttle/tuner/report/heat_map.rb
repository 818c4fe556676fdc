# frozen_string_literal: true

module Cuttle
  module Tuner
    module Report
      # A table of capacities, workers by threads: the deeper the colour of a cell, the nearer it is to the best.
      module HeatMap
        extend Markup

        DEEPEST = 45 # percent of the colour, so that the figure on it can be read

        module_function

        # map: an Advice::Map. chosen: Settings to mark, by the word for each.
        def render(map, chosen)
          caption = "#{map.engine}: requests/s at most, workers by threads"
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
          tag(:tr, tag(:th, "-w #{workers}", scope: "row"), cells)
        end

        # Whatever limit threads auto have.
        def mark(setting, chosen)
          chosen.find { |_, each| each.beside?(setting) && each.threads == setting.threads }&.first
        end

        # label: of the column, which a narrow screen shows in each cell.
        def cell(value, most, mark, label)
          share = value && most.positive? ? (DEEPEST * value / most).round : 0
          tag(:td, Numbers.rate(value), (tag(:small, mark) if mark),
              style: "--share:#{share}%", class: ("chosen" if mark), data_label: label)
        end
      end
    end
  end
end
