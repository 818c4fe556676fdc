# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # Generates the load of a run, with Cuttle::Load or with another load tester. A signal interrupts it.
      #
      # Rule: in a round, all configurations get their requests at the same random times. Each round has other times.
      class Generation
        # The number of the round.
        attr_writer :round

        def initialize(interruption)
          @interruption = interruption
          @round = 0
        end

        # Returns a Load::Result or a Testers::Result. options: of Load::Plan, or of the tester.
        def call(url, tester: nil, **options)
          options[:seed] += @round if options[:seed]
          @interruption.watch(generator(url, tester, options))
        end

        private

        def generator(url, tester, options)
          return Testers.find(tester).new(url, **options) if tester

          Load::Generator.new(Load::Plan.build(url, **options))
        end
      end
    end
  end
end
