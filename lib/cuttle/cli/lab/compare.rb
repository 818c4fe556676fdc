# frozen_string_literal: true

module Cuttle
  class CLI
    class Lab
      # `cuttle lab compare DIR DIR`: what changed from one lab to another.
      class Compare
        USAGE = <<~TEXT
          Usage: cuttle lab compare DIR DIR
          Prints the rates of the second lab divided by those of the first, for each configuration and load that both
          have, with 95% intervals and Holm's correction. Also prints the other differences of the labs.
        TEXT

        def initialize(out:, err:)
          @out = out
          @err = err
        end

        # Returns the exit status; raises UsageError and Error.
        def run(arguments)
          paths = CLI.two(arguments, USAGE, "compare takes two directories")
          results = paths.map { |directory| Cuttle::Lab::Results.read(directory) }
          requests = results.map { |each| Options.requests(each.command) }
          changes = Cuttle::Lab::Analysis::Changes.new(*results, requests: requests)
          @out.print Cuttle::Lab::Report::Changes.render(changes)
          0
        end
      end
    end
  end
end
