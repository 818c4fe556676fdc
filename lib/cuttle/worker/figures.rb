# frozen_string_literal: true

module Cuttle
  class Worker
    # The figures of the only process (-w 0), for those that control and observe it (Control::Commands). Any thread may
    # call these methods, which return at once. Cluster::Figures has the same for a cluster.
    class Figures
      def initialize(server)
        @server = server
        @started_at = Time.now
      end

      # The name of the engine.
      def engine = @server.settings.engine

      # The figures that Control returns.
      def stats
        { started_at: @started_at, **Stats.of(@server), ledger: Ledger.summary(@server.ledger) }
      end

      # The figures that metrics are made from: see Telemetry::Metrics.
      def measures
        figures = Stats.of(@server)
        { started_at: @started_at, workers: nil, totals: figures, ledger: @server.ledger,
          processes: [{ index: nil, pid: Process.pid, started_at: @started_at, stats: figures }] }
      end

      # The processes whose memory is counted.
      def owners
        { { process: "server" } => [Process.pid] }
      end

      # The ledger of each process that serves, by its pid.
      def ledgers
        { Process.pid => @server.ledger }
      end
    end
  end
end
