# frozen_string_literal: true

module Cuttle
  class CLI
    class Load
      # `cuttle load compare A.json B.json`
      class Compare
        USAGE = <<~TEXT
          Usage: cuttle load compare A.json B.json
          Ratios of rates and percentiles (B / A) of two results of cuttle load --json, with 95% bootstrap intervals
          over their seconds.
        TEXT

        def initialize(out:, err:)
          @out = out
          @err = err
        end

        def run(arguments)
          if arguments.intersect?(%w[-h --help])
            @out.puts USAGE
            return 0
          end
          raise UsageError, "compare takes two files" unless arguments.length == 2

          results = arguments.map { |path| Cuttle::Load::Reports::Json.read(path) }
          @out.print Cuttle::Load::Reports::Comparison.render(Cuttle::Load::Comparison.new(*results))
          0
        end
      end
    end
  end
end
