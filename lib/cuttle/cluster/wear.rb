# frozen_string_literal: true

module Cuttle
  class Cluster
    # Replaces workers that have reached a limit of memory, requests or age, one at a time, each by a worker that
    # accepts connections before the old one stops (Relief). Without such a limit it does nothing.
    class Wear
      # Seconds between two checks, and after a new worker that died.
      EVERY = 10
      PAUSE = 60

      # The memory of a process: Stats.memory.
      def self.memory(pid) = Stats.memory(pid)

      # +report+ takes one line for the user.
      def initialize(settings, workers, report)
        @memory = settings.worker_max_memory
        @requests = settings.worker_max_requests
        @age = settings.worker_max_age
        @workers = workers
        @report = report
        @next = Cuttle.now + EVERY if @memory || @requests || @age
      end

      # The Relief whose new worker is not there yet; nil if there is none at the moment.
      def relief
        @relief unless @relief&.relieved?
      end

      # Whether no replacement is under way.
      def still? = @relief.nil?

      # Continues a replacement that is under way. If there is none and a check is due, it may begin one, from +mould+.
      # +still+: no other restart is under way.
      def tend(now, mould, still:)
        return unless @next
        return pursue(now) if @relief

        replace_worn(mould) if @next <= now && still
        @next = now + EVERY if @next <= now
      end

      # Seconds until #tend has something to do; nil: not before a signal or a message.
      def wake_in(now)
        [@next - now, 0].max if @next && !@relief
      end

      private

      def pursue(now)
        @relief.step
        if @relief.failed?
          @report.call("the replacement of a worn worker died; the worn worker stays")
          @relief.abandon
          @next = now + PAUSE
        end
        @relief = nil if @relief.failed? || @relief.done?
      end

      def replace_worn(mould)
        old, why = @workers.staying.select(&:ready?).lazy.map { |slot| [slot, worn(slot)] }.find(&:last)
        return unless old

        @report.call("#{old} #{why}: replaced")
        @relief = Relief.new(@workers, old, mould)
      end

      # Why the worker is to be replaced, in words; nil if it is not.
      def worn(slot)
        if @age && Time.now - slot.started_at >= @age then "is #{@age} s old"
        elsif @requests && slot.stats.fetch(:requests_count, 0) >= @requests
          "has served #{slot.stats[:requests_count]} requests"
        elsif @memory && (octets = Wear.memory(slot.pid)) && octets >= @memory then "has #{octets >> 20} MB of memory"
        end
      end
    end
  end
end
