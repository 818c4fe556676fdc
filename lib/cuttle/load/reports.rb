# frozen_string_literal: true

module Cuttle
  module Load
    # The formats of a Result. A report is a module with render(result) → String.
    module Reports
      autoload :Ab, "cuttle/load/reports/ab"
      autoload :Comparison, "cuttle/load/reports/comparison"
      autoload :Csv, "cuttle/load/reports/csv"
      autoload :Hgrm, "cuttle/load/reports/hgrm"
      autoload :Json, "cuttle/load/reports/json"
      autoload :Panel, "cuttle/load/reports/panel"
      autoload :Text, "cuttle/load/reports/text"
    end
  end
end
