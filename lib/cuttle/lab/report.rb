# frozen_string_literal: true

module Cuttle
  module Lab
    # The results of a lab for readers: a table on the terminal, a Hash for JSON, one HTML file. Law: a report computes
    # no statistics (Analysis does), starts nothing and writes nothing.
    module Report
      # The parts that all reports share, under their names in Cuttle::Report.
      Charts = Cuttle::Report::Charts
      Columns = Cuttle::Report::Columns
      Markup = Cuttle::Report::Markup
      Numbers = Cuttle::Report::Numbers
      Sheet = Cuttle::Report::Sheet
      Units = Cuttle::Report::Units

      autoload :Changes, "cuttle/lab/report/changes"
      autoload :Document, "cuttle/lab/report/document"
      autoload :Page, "cuttle/lab/report/page"
      autoload :Recommendation, "cuttle/lab/report/recommendation"
      autoload :Sections, "cuttle/lab/report/sections"
      autoload :Table, "cuttle/lab/report/table"
      autoload :Text, "cuttle/lab/report/text"
      autoload :View, "cuttle/lab/report/view"

      module_function

      # The tables for a terminal, then the warnings, then the verdict: a String.
      def text(results, analysis)
        Text.render(View.new(results, analysis))
      end

      # The whole report, with the histogram of each run: a Hash of JSON's types (see Document).
      def json(results, analysis)
        Document.of(View.new(results, analysis))
      end

      # A page that needs no network and no script: a String.
      def html(results, analysis)
        Page.render(View.new(results, analysis))
      end
    end
  end
end
