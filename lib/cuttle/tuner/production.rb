# frozen_string_literal: true

require "time"

module Cuttle
  module Tuner
    # Makes a Profile of what a running server has counted of its own requests: the histograms of its ledger. Nothing is
    # loaded, and nothing is asked of the app.
    #
    # Rule: what the ledger can't know is not in the profile, and `notes` says what that means for an answer.
    class Production
      KIND = "all requests"
      QUANTILES = 100
      FEW = 100 # requests that are too few
      SAMPLED = 0.9 # of the requests; if the ledger measured the CPU time of fewer, it sampled the fast ones

      # ledger: phase => { count:, sum:, buckets: } as Cuttle::Ledger has it, of all processes together. engine: its
      # name. workers: how many serve. memory: octets (PSS) of the serving processes (:workers, an Array) and of the
      # supervisor and the mould (:others). cpu: CPU seconds of all processes in the time of these requests, or nil.
      # facts: further keys of the profile.
      def initialize(ledger, engine:, workers:, memory: nil, cpu: nil, **facts)
        @ledger = ledger
        @engine = engine
        @workers = workers
        @memory = memory
        @cpu = cpu
        @facts = facts
        @notes = []
      end

      # Raises Failure if the ledger has too little.
      def profile
        check
        Profile.new(id: Time.now.strftime("production-%Y%m%d-%H%M%S"), taken_at: Time.now.utc.iso8601(3),
                    entries: [entry], overheads: overheads, memory: memory, notes: notes, **@facts)
      end

      private

      def check
        count = @ledger.dig(:app, :count).to_i
        raise Failure, "#{count} requests are too few: watch longer (--for)" if count < FEW
        return if @ledger.dig(:cpu, :count).to_i.positive?

        raise Failure, "engine #{@engine} does not count the CPU time of requests: use cuttle tune"
      end

      def entry
        waiting = @ledger[:wait]
        Profile::Entry.new(name: KIND, cpu: distribution(@ledger[:cpu], mean(:cpu) + mean(:gc)),
                           wait: waiting ? distribution(waiting, mean(:wait)) : 0.0, samples: @ledger[:cpu][:count])
      end

      def mean(phase)
        found = @ledger[phase]
        found ? Ledger.mean(found).to_f : 0.0
      end

      # At most QUANTILES numbers with that mean: each the middle of the bucket in which its part of the requests is.
      def distribution(phase, mean)
        total = phase[:buckets].sum
        sums = phase[:buckets].inject([]) { |before, count| before << (before.last.to_i + count) }
        number = [total, QUANTILES].min
        values = Array.new(number) { |index| middle(sums.index { |sum| sum > total * (index + 0.5) / number }) }
        factor = values.sum.positive? ? mean * number / values.sum : 0.0
        values.map { |value| (value * factor).round(9) }
      end

      # Of a bucket, in nanoseconds. The last one has no end.
      def middle(bucket)
        least = bucket.zero? ? 0 : Ledger::BOUNDS[bucket - 1]
        most = Ledger::BOUNDS[bucket]
        most.to_f.finite? ? (least + most) / 2.0 : least
      end

      # CPU time of all processes, less what the app took.
      def overheads
        return unless @cpu

        beside = (@cpu / @ledger[:app][:count]) - mean(:cpu) - mean(:gc)
        { @engine => beside.round(9) } if beside.positive?
      end

      # A worker with all of its threads: what each thread adds can't be told from outside.
      def memory
        return unless @memory && @memory[:workers]&.any?

        { "base" => @memory[:others].to_i, "worker" => @memory[:workers].sum / @memory[:workers].length, "thread" => 0 }
      end

      def notes
        [*always, ("the CPU time was measured of #{percent} of the requests, mostly slow ones" if sampled?),
         ("waiting for the GVL counts as waiting (Ruby before 3.2)" unless @ledger[:gvl]),
         ("the CPU time that the server needs beside the app is unknown and assumed to be 0" unless overheads),
         ("one process that does not fork: how much memory workers would share is unknown" if @workers.zero?)].compact
      end

      def always
        ["all requests are one kind, and how often each waits isn't known: once is assumed",
         "how threads and processes slow each other down is unknown, and so is the memory of a further thread: both " \
         "are assumed to be 0",
         connections,
         "time that other programs took from the server counts as waiting"]
      end

      def connections
        return "database connections are not counted" unless @facts[:connections]

        "each thread is assumed to hold one database connection"
      end

      def sampled?
        @ledger[:cpu][:count] < SAMPLED * @ledger[:app][:count]
      end

      def percent
        "#{(100.0 * @ledger[:cpu][:count] / @ledger[:app][:count]).round} %"
      end
    end
  end
end
