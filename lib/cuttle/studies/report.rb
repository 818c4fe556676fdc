# frozen_string_literal: true

module Cuttle
  module Studies
    # Findings for readers: on a terminal, as Markdown (the README of each study, and docs/studies.md over all of them),
    # and as one HTML page over all studies.
    #
    # Law: a report computes no statistics (Findings has done that) and starts nothing. What it says follows from the
    # declarations and the results alone, so it is the same each time.
    module Report
      # What all reports share, under the names that it has there.
      Columns = Cuttle::Report::Columns
      Markup = Cuttle::Report::Markup
      Numbers = Cuttle::Report::Numbers
      Sheet = Cuttle::Report::Sheet
      Units = Cuttle::Report::Units

      autoload :Charts, "cuttle/studies/report/charts"
      autoload :Claims, "cuttle/studies/report/claims"
      autoload :Conditions, "cuttle/studies/report/conditions"
      autoload :Curves, "cuttle/studies/report/curves"
      autoload :Figures, "cuttle/studies/report/figures"
      autoload :Markdown, "cuttle/studies/report/markdown"
      autoload :Overview, "cuttle/studies/report/overview"
      autoload :Page, "cuttle/studies/report/page"
      autoload :Readme, "cuttle/studies/report/readme"
      autoload :Rows, "cuttle/studies/report/rows"
      autoload :Section, "cuttle/studies/report/section"
      autoload :Summary, "cuttle/studies/report/summary"
      autoload :Text, "cuttle/studies/report/text"
      autoload :Threats, "cuttle/studies/report/threats"
    end
  end
end
