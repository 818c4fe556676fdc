# frozen_string_literal: true

module Cuttle
  module Tuner
    # Reports the advice: as text for a terminal, and as one HTML page; JSON is Advice#to_h. Law: a report decides
    # nothing and computes no figure. It shows only what the Advice contains.
    module Report
      # What all reports share, under the names that it has in Cuttle::Report.
      Charts = Cuttle::Report::Charts
      Columns = Cuttle::Report::Columns
      Markup = Cuttle::Report::Markup
      Numbers = Cuttle::Report::Numbers
      Sheet = Cuttle::Report::Sheet
      Units = Cuttle::Report::Units

      autoload :HeatMap, "cuttle/tuner/report/heat_map"
      autoload :LimitWords, "cuttle/tuner/report/limit_words"
      autoload :Page, "cuttle/tuner/report/page"
      autoload :Steps, "cuttle/tuner/report/steps"
      autoload :Table, "cuttle/tuner/report/table"
      autoload :Text, "cuttle/tuner/report/text"
      autoload :Values, "cuttle/tuner/report/values"
      autoload :Words, "cuttle/tuner/report/words"

      FILE = "report.html"

      module_function

      def text(advice)
        Text.render(advice)
      end

      # The advice as an HTML page that needs no network and no script: a String.
      def html(advice)
        Page.render(advice)
      end
    end
  end
end
