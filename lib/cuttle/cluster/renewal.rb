# frozen_string_literal: true

module Cuttle
  class Cluster
    # A phased restart: replaces the workers of one mould by workers of another, one after the other (Relief). A failure
    # ends the restart, and the old workers stay.
    #
    #   loading --loaded--> proving --ready--> relieving … --> done
    #      `-----------------> failed <----------'
    #
    # After a refork it does the same with a mould that was a worker, and has the old code.
    class Renewal
      attr_reader :mould

      # +mould+ is loading the new code, or has been a worker (+warm+).
      def initialize(workers, mould, warm: false)
        @workers = workers
        @mould = mould
        @warm = warm
      end

      def warm? = @warm

      # Its name in reports.
      def to_s = @warm ? "refork" : "phased restart"

      # The Relief whose new worker is not there yet; nil if there is none at the moment.
      def relief
        @relief unless @relief&.relieved?
      end

      # Whether a worker of the new mould has accepted connections.
      def proved? = @proved
      def done? = @done

      # Whether the new mould, or a worker of it, died.
      def failed? = @failed

      # The new mould died.
      def fail
        @failed = true
        @relief&.abandon
      end

      # Does the next step if it is time for it.
      def step
        return if done? || failed? || !@mould.loaded?
        return fail if @relief&.failed?

        @relief&.step
        @proved ||= @relief&.relieved?
        replace_next if @relief.nil? || @relief.done?
      end

      private

      def replace_next
        old = @workers.staying.find { |slot| !slot.mould.equal?(@mould) }
        old ? @relief = Relief.new(@workers, old, @mould) : @done = true
      end
    end
  end
end
