# frozen_string_literal: true

require "json"

module Cuttle
  module Tuner
    # The answer, without a word of text: the reports write the sentences. Frozen; kept as one JSON object.
    #
    #   id, taken_at, command, app       of the tune; app is its name
    #   kind          :best (nothing to compare with), :change (measurably better than what the user has), :fits (keeps
    #                 the limits, which what the user has does not), :cheaper (as good, for less memory), :keep (nothing
    #                 measurable is gained), :none (no setting keeps the limits; the choice is the nearest one)
    #   choice        Outcome: the setting to run
    #   present       Outcome of the user's setting, or nil; place: where that setting comes from
    #   gains         { capacity:, p95: }: choice / present, an Estimate each, or nil
    #   detectable    of :keep, the smallest difference of the capacity that would have been seen (0.04: 4%), or nil
    #   threads       Threads: threads auto beside the best number of them, or nil
    #   limits        Limits
    #   cores, here   that the server may use; that it was measured on
    #   alternatives  Outcomes that nothing measurable sets apart from the choice, the cheapest first
    #   what_ifs      a WhatIf for each neighbour of the choice
    #   map           capacities of workers x threads, a Map, or nil
    #   checks        a Check for each figure that was predicted and measured
    #   changes       a Change for each circumstance that was tried
    #   warnings      lines
    #   edit          { "path", "diff", "refusal" } of the configuration file: what changes in it, or why it can't be
    #                 changed; or nil
    Advice = Struct.new(:id, :taken_at, :command, :app, :kind, :choice, :present, :place, :gains, :detectable, :threads,
                        :limits, :cores, :here, :alternatives, :what_ifs, :map, :checks, :changes, :warnings, :edit,
                        keyword_init: true) do
      def initialize(**)
        super
        freeze
      end

      # The demand that response times are of.
      def demand
        choice.demand
      end

      # The limits that the choice breaks: { name => how many times the limit }.
      def excess
        choice.excess(limits)
      end

      # How many times the demand's rate the choice can serve.
      def headroom
        choice.capacity.value / demand.rate
      end

      # Whether the figures are for more cores than there are here.
      def extrapolated?
        cores > here
      end

      def to_h
        Advice::Document.plain(super.merge(schema: Advice::SCHEMA))
      end

      # Writes it to +path+; a reader always sees a whole file. Raises Failure.
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

      # auto, number: Outcomes with the workers of the choice, both measured. loses: whether auto measurably loses, or
      # may lose. detectable: the smallest difference of the capacity that would have been seen, or nil.
      Threads = Struct.new(:auto, :number, :loses, :detectable, keyword_init: true)
      # from, to: Outcomes, both predicted; both measured if one of them has threads auto, and there are measurements.
      WhatIf = Struct.new(:from, :to, keyword_init: true)
      # Rows of requests per second: one for each number of workers, one value for each of threads (numbers, and auto).
      Map = Struct.new(:engine, :workers, :threads, :rows, keyword_init: true)
      # figure: :capacity, :p50, …; predicted, measured: Estimates.
      Check = Struct.new(:setting, :demand, :figure, :predicted, :measured, keyword_init: true) do
        # measured / predicted
        def ratio
          measured.value / predicted.value
        end

        # Whether the interval of the prediction and that of the measurement have a value in common.
        def held?
          low, high = [measured.low || measured.value, measured.high || measured.value]
          low <= (predicted.high || predicted.value) && high >= (predicted.low || predicted.value)
        end
      end
      # what: :cores, :wait or :rate. value: cores; the factor of the waiting; requests per second. outcome: of the best
      # setting then.
      Change = Struct.new(:what, :value, :outcome, keyword_init: true)

      # The Advice in the file at +path+. Raises Failure.
      def self.read(path)
        Document.read(JSON.parse(File.read(path)))
      rescue SystemCallError => error
        raise Failure, "#{path}: #{Load.reason(error)}"
      rescue JSON::ParserError, ArgumentError, TypeError, KeyError, NoMethodError
        raise Failure, "#{path}: no advice of cuttle tune"
      end
    end
  end
end
