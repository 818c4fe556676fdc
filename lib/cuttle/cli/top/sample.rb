# frozen_string_literal: true

module Cuttle
  class CLI
    class Top
      # A server's figures at one moment (Control::Commands#top), and what has changed since another sample.
      class Sample
        # One serving process, between two samples. Rates and shares that can't be computed are nil.
        #
        #   running    threads that there are; threads: as many there may be
        #   auto       1 with -t auto, 0 without, nil if the server is older and doesn't report it
        #   state      "starts", "serves", "stops", or "elder" (from before a hot restart)
        #   ledger     what the ledger recorded meanwhile
        Row = Struct.new(:index, :pid, :state, :busy, :running, :threads, :auto, :queue, :connections, :ledger, :memory,
                         :restarts, :age, :seconds, keyword_init: true) do
          def rate = ledger && (ledger.dig(:total, :count).to_i / seconds)
        end

        # The time of the sample, on the monotonic clock; the engine's name (nil: the server is older and doesn't report
        # it); the figures.
        attr_reader :at, :engine, :stats, :memory

        # +said+: the parsed JSON of the answer.
        def initialize(said, at: Cuttle.now)
          @at = at
          @engine = said["engine"]
          @stats = said.fetch("stats")
          @memory = said.fetch("memory").transform_keys(&:to_i)
          @ledgers = said.fetch("ledgers").to_h { |pid, ledger| [pid.to_i, whole(ledger)] }
        rescue KeyError => error
          raise Error, "the server is of another version: it says nothing of #{error.key}"
        end

        def ledger(pid) = @ledgers[pid]

        # Whether the server has workers.
        def cluster? = @stats.key?("worker_status")

        # A Row for each worker, or for the only process. A process that +before+ doesn't have has no ledger yet.
        def rows(before)
          (cluster? ? @stats["worker_status"] : [alone]).map { |worker| row(worker, before) }
        end

        # Seconds since an instant that the server named.
        def age(text)
          text && [Time.now - Time.utc(*text.scan(/\d+/).map(&:to_i)), 0].max
        end

        private

        def alone
          { "pid" => @stats["pid"] || @memory.keys.first, "booted" => true, "started_at" => @stats["started_at"],
            "last_status" => @stats }
        end

        def row(worker, before)
          figures = worker.fetch("last_status")
          pid = worker["pid"]
          Row.new(index: worker["index"], pid: pid, state: state(worker), busy: figures["busy_threads"],
                  running: figures["running"], threads: figures["max_threads"], auto: figures["auto_threads"],
                  queue: figures["backlog"], connections: figures["connections"], memory: @memory[pid],
                  restarts: worker["restarts"], age: age(worker["started_at"]), ledger: since(before, pid),
                  seconds: [@at - before.at, 1e-3].max)
        end

        def state(worker)
          return "elder" if worker["index"].nil? && cluster?
          return "stops" if worker["retiring"]

          worker["booted"] ? "serves" : "starts"
        end

        # A program that was executed in the place of another one has its pid, and its ledger begins at 0.
        def since(before, pid)
          return unless before.stats["started_at"] == @stats["started_at"]

          now = @ledgers[pid]
          past = before.ledger(pid)
          now && past && Ledger.difference(now, past)
        end

        def whole(ledger)
          ledger.to_h { |name, phase| [name.to_sym, thick(phase)] }
        end

        # A histogram with all buckets.
        def thick(phase)
          buckets = Array.new(Ledger::BOUNDS.length, 0)
          phase.fetch("buckets").each { |bound, count| buckets[place(bound)] = count }
          { count: phase.fetch("count"), sum: phase.fetch("sum"), buckets: buckets }
        end

        def place(bound)
          return Ledger::BOUNDS.length - 1 unless bound

          PLACES.fetch(bound) { raise Error, "the server is of another version: its histograms have other bounds" }
        end

        PLACES = Ledger::BOUNDS.each_with_index.to_h.freeze
        private_constant :PLACES
      end
    end
  end
end
