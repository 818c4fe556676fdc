# frozen_string_literal: true

module Cuttle
  class Cluster
    # Lets the mould end while no worker has to be forked (--no-keep-mould), because it keeps the memory of the loaded
    # app only in order to fork from it. Moulds starts the next one when a worker has to be forked.
    class Idleness
      # Seconds for which all workers have served before. A worker that dies sooner died at boot (Slot::BOOT).
      AFTER = 5

      def initialize(settings, workers, moulds)
        @keeps = settings.keep_mould
        @workers = workers
        @moulds = moulds
      end

      # +still+: nothing is under way or to come that needs the mould.
      def tend(now, still:)
        return if @keeps || !@moulds.renewable? # a supervisor that is the mould can't end

        @since = still && @moulds.awake? && @workers.ready? ? @since || now : nil
        @moulds.rest if @since && @since + AFTER <= now
      end

      # Seconds until #tend has something to do; nil: not before a signal or a message.
      def wake_in(now)
        [@since + AFTER - now, 0].max if @since
      end
    end
  end
end
