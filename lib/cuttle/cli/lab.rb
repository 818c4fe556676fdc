# frozen_string_literal: true

module Cuttle
  class CLI
    # `cuttle lab [APP.ru]` and its subcommands. Exit statuses:
    #
    #   0 done
    #   1 nothing could be measured (no run is valid), or the results could not be written
    #   2 wrong usage
    #   130 interrupted (results so far were reported)
    class Lab
      autoload :Compare, "cuttle/cli/lab/compare"
      autoload :Options, "cuttle/cli/lab/options"
      autoload :Peers, "cuttle/cli/lab/peers"
      autoload :Report, "cuttle/cli/lab/report"

      COMMANDS = { "peers" => :Peers, "report" => :Report, "compare" => :Compare }.freeze

      def initialize(out:, err:)
        @out = out
        @err = err
      end

      # Returns the exit status; raises UsageError and Error.
      def run(arguments)
        name = COMMANDS[arguments.first]
        return self.class.const_get(name).new(out: @out, err: @err).run(arguments.drop(1)) if name

        measure(Options.parse(arguments))
      end

      private

      def measure(options)
        results = Cuttle::Lab::Results.read(Cuttle::Lab.run(options.to_lab, out: @err))
        Report.new(out: @out, err: @err).show(results, json: options.json)
        return 130 if results.interrupted?

        results.runs.any?(&:valid?) ? 0 : 1
      end
    end
  end
end
