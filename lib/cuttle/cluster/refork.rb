# frozen_string_literal: true

module Cuttle
  class Cluster
    # Makes a warm worker the next mould (--refork-after), so that new workers share the memory that requests have
    # filled. It asks one worker at a time, after another has taken its place:
    #
    #   idle --a worker has served enough--> relieving --the new worker serves--> asked --it is the mould--> idle
    #    ^                                       |                                  |      (Moulds: Renewal)
    #    `---------------------------------------`------------- failed -------------'
    #
    # After a failure, the mould and the workers stay as they are. Each limit is for one generation: the first for the
    # mould that has loaded the app, the second for the first worker that became a mould, and so on; the last limit is
    # for all later generations. A mould that loads the app again begins with the first limit.
    class Refork
      # Seconds between two checks, and after a worker that did not become the mould.
      EVERY = 5
      PAUSE = 60

      # After this many failures for one mould, that mould stays.
      MOST = 3

      def initialize(settings, workers, moulds, report)
        @limits = settings.refork_after
        @workers = workers
        @moulds = moulds
        @report = report
        @generation = @vain = 0
        @next = Cuttle.now + EVERY if @limits.any?
      end

      # The Relief whose new worker is not there yet; nil if there is none at the moment.
      def relief
        @relief unless @relief&.relieved?
      end

      # Whether no worker is about to become a mould.
      def still? = @relief.nil?

      # Whether no worker of this mould will become the next one.
      def over? = still? && (@limits.empty? || @next.nil? || (!@known.nil? && !wanted?))

      # Continues a refork that is under way. If there is none, it may ask a worker. +still+: no other restart is under
      # way.
      def tend(now, still:)
        return unless @next
        return pursue(now) if @relief
        return unless @next <= now

        begin_one if still && renewable?
        @next &&= now + EVERY
      end

      # Seconds until #tend has something to do; nil: not before a signal or a message.
      def wake_in(now)
        [@next - now, 0].max if @next && !@relief
      end

      # A phased restart begins: no worker may become a mould of the old code.
      def abandon
        @relief&.abandon
        @moulds.dismiss
        @relief = nil
      end

      private

      # Without a subreaper workers are children of the process that forks them, which has to be the supervisor.
      def renewable?
        return true if @moulds.renewable?

        @report.call("--refork-after has no effect here: the system has no subreaper")
        @next = nil
      end

      def begin_one
        follow
        slot = worker if wanted?
        return unless slot

        @report.call("refork: #{slot} has served #{slot.stats[:requests_count]} requests: it will become the mould")
        @relief = Relief.new(@workers, slot, @moulds.current) { |old| appoint(old) }
      end

      # The worker's replacement serves already. So if there are no descriptors to ask the worker, the worker leaves.
      def appoint(old)
        @chosen = @moulds.appoint(old)
      rescue SystemCallError => error
        @report.call("refork: can't ask #{old} to become the mould: #{error.class.new.message}")
        @workers.retire(old)
      end

      # A new mould is the next generation, or the first of new code.
      def follow
        if @moulds.current.equal?(@known)
          @vain += 1 if @chosen # it was the mould, until a worker of it failed
        else
          @generation = @chosen && @moulds.current.equal?(@chosen) ? @generation + 1 : 0
          @vain = 0
          @known = @moulds.current
        end
        @chosen = nil
      end

      def limit = @limits.fetch(@generation, @limits.last)

      def wanted? = limit.positive? && @vain < MOST

      # The warmest worker of the mould.
      def worker
        ready = @workers.staying.select { |slot| slot.ready? && slot.mould.equal?(@known) }
        warmest = ready.max_by { |slot| served(slot) }
        warmest if warmest && served(warmest) >= limit
      end

      def served(slot) = slot.stats.fetch(:requests_count, 0)

      def pursue(now)
        @relief.step
        return fail(now) if @relief.failed? || in_vain?

        finish(now) if @chosen&.loaded?
      end

      # Whether the worker ended, and is no mould.
      def in_vain? = !@chosen&.loaded? && @relief.done?

      def fail(now)
        @relief.abandon
        @moulds.dismiss
        @vain += 1
        more = "; no other worker is asked before the next phased restart" if @vain == MOST
        @report.call("refork: given up, the mould stays#{more}")
        @chosen = nil
        finish(now + PAUSE)
      end

      def finish(now)
        @relief = nil
        @next = now + EVERY
      end
    end
  end
end
