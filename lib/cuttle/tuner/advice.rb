# frozen_string_literal: true

require "json"

module Cuttle
  module Tuner
    # The answer of a tune, as a value without text: the reports write the sentences. Frozen. It is kept as one JSON
    # object.
    #
    #   id, taken_at, command, app       which tune this is; app is the app's name
    #   kind          :best (there is no present setting), :change (measurably better than the present setting, or the
    #                 present setting can't serve the app),
    #                 :fits (keeps the limits, and the present setting does not), :cheaper (as good as the present one,
    #                 with less memory), :keep (no setting is measurably better), :none (no setting keeps the limits;
    #                 the choice comes nearest to them)
    #   choice        Outcome: the setting to run
    #   present       Outcome of the user's present setting, or nil; place: where that setting is written
    #   failure       why the present setting can't serve the app, or nil
    #   gains         { capacity:, p95: }: choice / present, each an Estimate or nil
    #   detectable    with :keep, the smallest difference in capacity that can be detected (0.04: 4%), or nil
    #   threads       Threads: -t auto compared with the best number of threads, or nil
    #   capped        if -t auto is worse than the choice because it may start too few threads: its Outcome with the
    #                 limit that it has by itself, and the workers of the choice; otherwise nil
    #   max_fibers    requests that each process of the choice may have in the app at once, if it needs such a limit
    #                 for that of database connections; otherwise nil
    #   limits        Limits
    #   cores, here   CPU cores that the server may use; CPU cores that it was measured on
    #   alternatives  Outcomes that are not measurably different from the choice, the cheapest first
    #   what_ifs      a WhatIf for each neighbour of the choice
    #   map           capacities of workers x threads, a Map, or nil
    #   checks        a Check for each figure that was both predicted and measured
    #   changes       a Change for each circumstance that was tried
    #   warnings      an Array of sentences
    #   edit          { "path", "diff", "remark", "refusal" } of the configuration file: the change to it, and what that
    #                 gives up or nil; or the reason why the tuner can't change it; or nil
    Advice = Struct.new(:id, :taken_at, :command, :app, :kind, :choice, :present, :place, :failure, :gains, :detectable,
                        :threads, :capped, :max_fibers, :limits, :cores, :here, :alternatives, :what_ifs, :map, :checks,
                        :changes, :warnings, :edit, keyword_init: true) do
      def initialize(**)
        super
        freeze
      end

      # The demand under which the response times hold.
      def demand
        choice.demand
      end

      # The limits that the choice breaks: { name => the figure / the limit }.
      def excess
        choice.excess(limits)
      end

      # The choice's capacity / the demand's rate.
      def headroom
        choice.capacity.value / demand.rate
      end

      # Whether the figures are for more cores than this machine has.
      def extrapolated?
        cores > here
      end

      def to_h
        Advice::Document.plain(super.merge(schema: Advice::SCHEMA))
      end

      # Writes the advice to +path+. A reader always sees a whole file. Raises Failure.
      def write(path)
        File.write("#{path}.new", "#{JSON.pretty_generate(to_h)}\n")
        File.rename("#{path}.new", path)
        path
      rescue SystemCallError => error
        raise Failure, "can't write #{path}: #{Load.reason(error)}"
      end
    end

    class Advice
      SCHEMA = "cuttle-advice/1"
      FILE = "advice.json"

      autoload :Document, "cuttle/tuner/advice/document"

      # auto, number: Outcomes with the workers of the choice, both measured. loses: whether auto is measurably worse,
      # or might be. detectable: the smallest difference in capacity that the lab would have detected, or nil.
      Threads = Struct.new(:auto, :number, :loses, :detectable, keyword_init: true)
      # from, to: Outcomes. Both are predicted; both are measured if one of them has -t auto and both were verified.
      WhatIf = Struct.new(:from, :to, keyword_init: true)
      # Requests per second: a row for each number of workers, and in it a value for each entry of threads (numbers and
      # auto).
      Map = Struct.new(:engine, :workers, :threads, :rows, keyword_init: true)
      # figure: :capacity, :p50, …; predicted, measured: Estimates.
      Check = Struct.new(:setting, :demand, :figure, :predicted, :measured, keyword_init: true) do
        # measured / predicted
        def ratio
          measured.value / predicted.value
        end

        # Whether the intervals of the prediction and of the measurement overlap.
        def held?
          low, high = [measured.low || measured.value, measured.high || measured.value]
          low <= (predicted.high || predicted.value) && high >= (predicted.low || predicted.value)
        end
      end
      # what: :cores, :wait or :rate. value: the number of cores, the factor of the waiting, or requests per second.
      # outcome: the best setting's Outcome under that change. excess: the limits that it breaks (see Outcome#excess).
      Change = Struct.new(:what, :value, :outcome, :excess, keyword_init: true)

      # The Advice in the file at +path+. Raises Failure.
      def self.read(path)
        Document.read(JSON.parse(File.read(path)))
      rescue SystemCallError => error
        raise Failure, "#{path}: #{Load.reason(error)}"
      rescue JSON::ParserError, ArgumentError, TypeError, KeyError, NoMethodError
        raise Failure, "#{path}: not an advice of cuttle tune"
      end
    end
  end
end
