# frozen_string_literal: true

module Cuttle
  # What reports share: numbers with units, text in columns, markup, the HTML page, charts, and the registries of a
  # page's sections and a report's parts.
  #
  # Law: this room turns figures into text. It measures nothing, starts nothing and names no other room. Load, Lab,
  # Tuner and Studies use it. Code for the reports of only one of them is in that room.
  module Report
    autoload :Charts, "cuttle/report/charts"
    autoload :Columns, "cuttle/report/columns"
    autoload :Markup, "cuttle/report/markup"
    autoload :Numbers, "cuttle/report/numbers"
    autoload :Parts, "cuttle/report/parts"
    autoload :Sections, "cuttle/report/sections"
    autoload :Sheet, "cuttle/report/sheet"
    autoload :Units, "cuttle/report/units"
  end
end
