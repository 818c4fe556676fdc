# frozen_string_literal: true

module Cuttle
  class CLI
    class Load
      # `cuttle load compare A.json B.json`
      class Compare
        USAGE = <<~TEXT
          Usage: cuttle load compare A.json B.json
          Prints the ratios B / A of the rates and percentiles of two results of cuttle load --json. The 95% intervals
          are bootstrapped from the seconds of the runs.
        TEXT

        def initialize(out:, err:)
          @out = out
          @err = err
        end

        def run(arguments)
          paths = CLI.two(arguments, USAGE, "compare takes two files")
          results = paths.map { |path| Cuttle::Load::Reports::Json.read(path) }
          @out.print Cuttle::Load::Reports::Changes.render(Cuttle::Load::Changes.new(*results))
          0
        end
      end
    end
  end
end
