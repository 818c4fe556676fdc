# frozen_string_literal: true

module Cuttle
  class Cluster
    # A hot restart of a cluster: the supervisor executes the program in its present state (Restart), and hands over its
    # workers and moulds to it (Heritage). The workers continue, and end when those of the new program serve.
    #
    #   idle --#rehearse--> rehearsing --it boots--> #execute --> the new program
    #    ^                      |                       |
    #    `--------------------------- failed -----------'
    class HotRestart
      # +restart+ is nil if this program can't be executed again.
      def initialize(restart, heritage, membership, workers, moulds)
        @restart = restart
        @heritage = heritage
        @cluster = membership
        @workers = workers
        @moulds = moulds
      end

      # Tries the program in a process of its own. Calls the block, in another thread, if it boots.
      def rehearse(&block)
        return @cluster.report.call("hot restart: this program does not know how it was started") unless @restart

        @restart.try(&block)
      end

      # Ends a rehearsal that is under way.
      def abandon
        @restart&.abandon
      end

      # Becomes the new program. Returns if the system can't execute it. It also returns if, after before_restart,
      # +signals+ say that the server must stop.
      def execute(signals)
        @restart.signals = signals
        @restart.with_changes_to_env { attempt(:before_restart) }
        return if signals.stop?(files: @cluster.redirection.any?)

        Notify.reloading("restarting")
        @cluster.scoreboard.relay(false) # the new program doesn't know what a worker that dies leaves in its relay
        @restart.exec(@heritage.pass_on(@cluster.life, workers: @workers.pids, serving: @workers.serving.map(&:pid),
                                                       moulds: @moulds.pids))
        go_on
      end

      private

      # Starts again what before_restart has ended.
      def go_on
        @cluster.scoreboard.relay(true)
        @heritage.withhold(@cluster.life)
        Notify.ready
        attempt(:after_booted)
      end

      # Hooks may take long.
      def attempt(name)
        Notify::Heartbeat.new.during { @cluster.hooks.attempt(name) }
      end
    end
  end
end
