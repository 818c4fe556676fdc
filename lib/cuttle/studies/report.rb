# frozen_string_literal: true

module Cuttle
  module Studies
    # Findings to be read: on a terminal, as Markdown (docs/studies.md, and the result in a study's README), and as one
    # HTML page over all of them.
    module Report
      autoload :Rows, "cuttle/studies/report/rows"
      autoload :Text, "cuttle/studies/report/text"
      autoload :Markdown, "cuttle/studies/report/markdown"
    end
  end
end
