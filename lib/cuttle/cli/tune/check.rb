# frozen_string_literal: true

module Cuttle
  class CLI
    class Tune
      # `cuttle tune check`: whether the app's present setting is still good enough, for continuous integration. Exit
      # status 3 if it certainly breaks a limit that another setting keeps, or is worse than the best by more than
      # --worse.
      class Check
        def initialize(out:, err:)
          @out = out
          @err = err
        end

        # Returns the exit status; raises UsageError and Error.
        def run(arguments)
          options = Options.parse(arguments, command: %w[cuttle tune check])
          raise UsageError, "check answers no --what-if, and writes nothing" if options.questions.any? || options.write

          session = nil
          advice = Tune.advice(options, err: @err) { |each| session = each }
          Show.new(out: @out, err: @err).print(advice, session.folder, json: options.json)
          return 130 if session.interrupted?

          status(Tuner::Standing.new(advice, worse: options.worse))
        end

        private

        def status(standing)
          [*standing.reasons, *standing.doubts].each { |line| @err.puts "cuttle: #{line}" }
          return 1 if standing.hopeless?

          standing.good? ? 0 : 3
        end
      end
    end
  end
end
