# frozen_string_literal: true

module Cuttle
  class Worker
    # The signs of life of a process that serves: a worker's with its figures, for the supervisor; the only process's
    # for systemd. At the same moments it checks whether certificates have changed, and a worker gives memory back.
    class Pulse
      # The most seconds between two signs of life, and between two checks of certificates.
      BEAT = 5

      # The same while the figures are being observed.
      WATCHED = 1

      # For a worker: +tell+, which takes an event and facts for the supervisor, and +watched+, which says whether these
      # are being observed. For the only process: nil.
      def initialize(server, tell, watched)
        @server = server
        @tell = tell
        @watched = watched
        @timeout = server.settings.worker_timeout
        @heartbeat = Notify::Heartbeat.new unless tell
      end

      # The process accepts connections.
      def ready
        @tell ? @tell.call(:ready, **figures) : Notify.ready("serving")
      end

      # Gives a sign of life.
      def beat
        @server.refresh
        trim if @tell
        @tell ? @tell.call(:beat, **figures) : @heartbeat.beat(Cuttle.now)
      end

      # Calls the block, which may take long, in the only process. Meanwhile systemd gets signs of life.
      def during(&block) = @heartbeat.during(&block)

      # Seconds until the next sign of life; nil if none is expected.
      def interval
        return [@heartbeat.wake_in(Cuttle.now), (BEAT if @server.secure?)].compact.min unless @tell

        [@timeout && (@timeout / 3.0), @watched.call ? WATCHED : BEAT].compact.min
      end

      private

      # Gives memory back if garbage was collected since the last time.
      def trim
        return if GC.count == @collections

        @collections = GC.count
        @server.trim
      end

      # A limit that is not set is left out.
      def figures = Stats.of(@server).compact
    end
  end
end
