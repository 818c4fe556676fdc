# frozen_string_literal: true

module Cuttle
  class Cluster
    # A hot restart of a cluster: the supervisor executes the program as it now is (Restart), and leaves itself its
    # workers and moulds (Heritage). The workers go on, and end when those of the new program serve.
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

      # Becomes the new program. Returns if the system can't execute it, or if the block says, once before_restart has
      # run, that the server is to stop.
      def execute
        @cluster.hooks.attempt(:before_restart)
        return if yield

        Notify.reloading("restarting")
        pids = @workers.pids + @moulds.pids
        @restart.exec(@heritage.pass_on(@cluster.life, pids, @workers.serving.map(&:pid)))
        go_on
      end

      private

      # What before_restart has ended begins again.
      def go_on
        @heritage.withhold(@cluster.life)
        Notify.ready
        @cluster.hooks.attempt(:after_booted)
      end
    end
  end
end
