# frozen_string_literal: true

module Cuttle
  class Cluster
    # Replaces one worker by a new one of the same index, forked from +mould+. The new worker must accept connections
    # before the old one is stopped.
    #
    #   starting --ready--> relieved --the old one ended--> done
    #       `-----> failed
    class Relief
      # The old worker, and the new one.
      attr_reader :pair

      # A block, if given, notifies the old worker, in place of the signal to leave.
      def initialize(workers, old, mould, &tell)
        @workers = workers
        @tell = tell || workers.method(:retire)
        @pair = [old, workers.add(mould, old.index)]
      end

      # Whether the new worker has accepted connections, and the old one is stopping.
      def relieved? = @relieved

      def done? = relieved? && !@workers.include?(old)

      # Whether the new worker died, or could not be forked, before it accepted connections.
      def failed? = !relieved? && new.failed?

      # Does the next step if it is time for it.
      def step
        return if relieved? || !new.ready?

        @relieved = true
        @tell.call(old)
      end

      # The old worker stays, unless it is already stopping.
      def abandon
        @workers.retire(new) if !relieved? && @workers.include?(new)
      end

      private

      def old = @pair.first
      def new = @pair.last
    end
  end
end
