# frozen_string_literal: true

module Cuttle
  class Cluster
    # The figures of a cluster, for those that control and observe it (Control::Commands). Any thread may call these
    # methods, which return at once. Worker::Figures has the same for a process without workers.
    class Figures
      # After a request for figures, workers send their figures more often for this many seconds. It is longer than a
      # collector of metrics waits between two requests.
      WATCH = 90

      # The name of the workers' engine.
      attr_reader :engine

      def initialize(membership, workers, moulds)
        @engine = membership.settings.engine
        @scoreboard = membership.scoreboard
        @workers = workers
        @tally = workers.tally
        @moulds = moulds
        @started_at = Time.now
      end

      # The figures that Control returns.
      def stats
        slots = watched
        { started_at: @started_at, workers: slots.length, phase: @moulds.current&.phase,
          booted_workers: slots.count(&:ready?),
          old_workers: slots.count { |slot| old?(slot) },
          worker_status: slots.map { |slot| status(slot) }, ledger: Ledger.summary(@scoreboard.ledger) }
      end

      # The figures that metrics are made from: see Telemetry::Metrics.
      def measures
        slots = watched
        { started_at: @started_at, workers: workers(slots), totals: @tally.totals,
          processes: slots.map { |slot| process(slot) }, ledger: @scoreboard.ledger }
      end

      # The processes whose memory is counted (see Telemetry::Metrics). Elders have no index.
      def owners
        workers = @workers.to_a.group_by { |slot| owner(slot) }.transform_values { |slots| slots.filter_map(&:pid) }
        { { process: "supervisor" } => [Process.pid], { process: "mould" } => @moulds.pids, **workers }
      end

      # The ledger of each process that serves, by its pid.
      def ledgers
        slots = @workers.to_a.select { |slot| slot.index && slot.pid }
        slots.to_h { |slot| [slot.pid, @scoreboard.ledger(slot.place)] }
      end

      private

      # The workers, which send their figures more often from now on.
      def watched
        @scoreboard.watch(WATCH)
        @workers.to_a
      end

      def owner(slot)
        slot.index ? { process: "worker", worker: slot.index.to_s } : { process: "elder" }
      end

      # With the ledger of the worker's place, which includes earlier workers in that place. An elder has none.
      def status(slot)
        ledger = slot.place && Ledger.summary(@scoreboard.ledger(slot.place))
        { **slot.status, restarts: @tally.restarts(slot.index), ledger: ledger }
      end

      # Workers that stay are old too if they are from before a restart.
      def workers(slots)
        { known: slots.length, ready: slots.count(&:ready?), old: slots.count { |slot| old?(slot) },
          started: @tally.started.values.sum, died: @tally.died }
      end

      def old?(slot)
        slot.retiring? || slot.mould != @moulds.current
      end

      def process(slot)
        { index: slot.index, pid: slot.pid, started_at: slot.started_at, stats: slot.stats,
          requests: @tally.requests[slot.index], restarts: @tally.restarts(slot.index) }
      end
    end
  end
end
