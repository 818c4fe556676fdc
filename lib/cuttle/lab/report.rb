# frozen_string_literal: true

module Cuttle
  module Lab
    # What a lab's results look like: a table on the terminal, a Hash for JSON, one HTML file. Law: a report computes no
    # statistics (Analysis has done that), starts nothing and writes nothing.
    module Report
      autoload :Changes, "cuttle/lab/report/changes"
      autoload :Charts, "cuttle/lab/report/charts"
      autoload :Document, "cuttle/lab/report/document"
      autoload :Markup, "cuttle/lab/report/markup"
      autoload :Numbers, "cuttle/lab/report/numbers"
      autoload :Page, "cuttle/lab/report/page"
      autoload :Sections, "cuttle/lab/report/sections"
      autoload :Sheet, "cuttle/lab/report/sheet"
      autoload :Table, "cuttle/lab/report/table"
      autoload :Text, "cuttle/lab/report/text"
      autoload :View, "cuttle/lab/report/view"

      module_function

      # The table for a terminal, with what is to be said against it and the verdict last: a String.
      def text(results, analysis)
        Text.render(View.new(results, analysis))
      end

      # Everything, with each run's histogram: a Hash of what JSON has (see Document).
      def json(results, analysis)
        Document.of(View.new(results, analysis))
      end

      # A page that needs nothing else: no network, no script. A String.
      def html(results, analysis)
        Page.render(View.new(results, analysis))
      end
    end
  end
end
