# frozen_string_literal: true

module Cuttle
  module Studies
    # Findings to be read: on a terminal, as Markdown (a study's README, and docs/studies.md over all of them), and as
    # one HTML page over all of them.
    #
    # Its law: a report computes no statistics (Findings has done that) and starts nothing; what it says follows from
    # the declarations and the results alone, so that it is the same each time.
    module Report
      autoload :Charts, "cuttle/studies/report/charts"
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
    end
  end
end
