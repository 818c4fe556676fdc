# frozen_string_literal: true

require "time"

module Cuttle
  module Tuner
    # Makes a Profile from the histograms in the ledger of a running server, which measures the requests that it serves.
    # It sends no requests to the app.
    #
    # Rule: the profile contains nothing that the ledger doesn't measure. `notes` says what is missing and how that
    # affects the answer.
    class Production
      KIND = "all requests"
      QUANTILES = 100
      FEW = 100 # fewer requests are too few
      SAMPLED = 0.9 # share of the requests; if the ledger has the CPU time of fewer, it sampled the fast ones

      # Why there is no Profile of a server with that engine.
      def self.uncounted(engine)
        "engine #{engine} does not count the CPU time of requests: use cuttle tune"
      end

      # ledger: phase => { count:, sum:, buckets: } as in Cuttle::Ledger, over all processes. engine: its name. workers:
      # how many serve. memory: PSS in octets of the serving processes (:workers, an Array) and of the supervisor and
      # the mould (:others). cpu: CPU seconds of all processes during these requests, or nil. facts: further keys of the
      # profile.
      def initialize(ledger, engine:, workers:, memory: nil, cpu: nil, **facts)
        @ledger = ledger
        @engine = engine
        @workers = workers
        @memory = memory
        @cpu = cpu
        @facts = facts
        @notes = []
      end

      # Returns the Profile. Raises Failure if the ledger has too few requests.
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

        raise Failure, Production.uncounted(@engine)
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

      # At most QUANTILES numbers with that mean. Each is the middle of the bucket that contains its part of the
      # requests.
      def distribution(phase, mean)
        total = phase[:buckets].sum
        sums = phase[:buckets].inject([]) { |before, count| before << (before.last.to_i + count) }
        number = [total, QUANTILES].min
        values = Array.new(number) { |index| middle(sums.index { |sum| sum > total * (index + 0.5) / number }) }
        factor = values.sum.positive? ? mean * number / values.sum : 0.0
        values.map { |value| (value * factor).round(9) }
      end

      # The middle of a bucket, in nanoseconds. The last bucket has no upper end.
      def middle(bucket)
        least = bucket.zero? ? 0 : Ledger::BOUNDS[bucket - 1]
        most = Ledger::BOUNDS[bucket]
        most.to_f.finite? ? (least + most) / 2.0 : least
      end

      # The CPU time of all processes, less the app's.
      def overheads
        return unless @cpu

        beside = (@cpu / @ledger[:app][:count]) - mean(:cpu) - mean(:gc)
        { @engine => beside.round(9) } if beside.positive?
      end

      # A worker's memory includes all of its threads: the memory of one thread can't be seen from outside.
      def memory
        return unless @memory && @memory[:workers]&.any?

        { "base" => @memory[:others].to_i, "worker" => @memory[:workers].sum / @memory[:workers].length, "thread" => 0 }
      end

      def notes
        [*always, ("the CPU time was measured for #{percent} of the requests, mostly slow ones" if sampled?),
         ("waiting for the GVL counts as waiting (before Ruby 3.2)" unless @ledger[:gvl]),
         ("the CPU time that the server needs outside the app is unknown, and assumed to be 0" unless overheads),
         ("one process without workers: how much memory workers would share is unknown" if @workers.zero?)].compact
      end

      def always
        ["all requests count as one kind; how often each waits is unknown, and assumed to be once",
         "how much threads and processes slow each other down is unknown, and so is the memory of a further thread: " \
         "both are assumed to be 0",
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
