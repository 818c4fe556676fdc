# frozen_string_literal: true

module Cuttle
  class Cluster
    # A phased restart: replaces the workers of one mould by workers of another, one by one. A new worker must accept
    # connections before an old one is told to stop, and the old one must have ended before the next new one is forked.
    # What fails ends the restart, and the old workers stay.
    #
    #   loading --loaded--> proving --ready--> leaving --ended--> proving … --> done
    #      `-----------------> failed <----'
    class Renewal
      attr_reader :mould

      # +mould+ was told to load the new code.
      def initialize(workers, mould)
        @workers = workers
        @mould = mould
      end

      # The new worker that is to relieve an old one; nil if there is none at the moment.
      def reliever = @new

      # Whether a worker of the new mould has accepted connections.
      def proved? = @proved
      def done? = @done

      # Whether the new mould, or a worker of it, died.
      def failed? = @failed

      # The new mould died.
      def fail
        @failed = true
        @workers.retire(@new) if @new && @workers.include?(@new)
      end

      # Does the next step if it is time for it.
      def step
        return if done? || failed? || !@mould.loaded?
        return fail if @new&.failed?

        return if @new && !@new.ready?

        relieve if @new
        replace_next unless @old && @workers.include?(@old)
      end

      private

      # The new worker serves, so the old one may go.
      def relieve
        @proved = true
        @new = nil
        @workers.retire(@old)
      end

      def replace_next
        @old = @workers.staying.find { |slot| !slot.mould.equal?(@mould) }
        @old ? @new = @workers.add(@mould, @old.index) : @done = true
      end
    end
  end
end
