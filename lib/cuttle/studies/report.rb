# frozen_string_literal: true

module Cuttle
  module Studies
    # Reports of findings: on a terminal, as Markdown (the README of each study, and docs/studies.md about all of them),
    # and as one HTML page about all studies.
    #
    # Law: a report computes no statistics (Findings does) and starts nothing. It depends only on the declarations and
    # the results, so it is the same each time.
    module Report
      # What all reports share, under the names that it has in Cuttle::Report.
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
