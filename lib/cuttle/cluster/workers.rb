# frozen_string_literal: true

module Cuttle
  class Cluster
    # The workers of a supervisor: has them forked, receives their messages, replaces those that die, and ends them. It
    # never waits. The supervisor calls #tend after each signal, message or deadline.
    class Workers
      # The supervisor kills a worker that still runs this many seconds after its own shutdown_timeout.
      GRACE = 1

      # How a process ended, in words.
      def self.cause(status)
        return "unknown status" unless status

        status.signaled? ? "SIG#{Signal.signame(status.termsig)}" : "exit status #{status.exitstatus}"
      end

      # What they have counted, a Tally.
      attr_reader :tally

      def initialize(membership)
        @cluster = membership
        @slots = []
        @clean = true
        @tally = Tally.new
      end

      # Adds a worker, to be forked from +mould+. Without an +index+ it gets the lowest that is free.
      def add(mould, index = free(@slots.map(&:index)))
        limits = { boot: @cluster.settings.worker_boot_timeout, silence: @cluster.settings.worker_timeout }
        Slot.new(index, place: free(@slots.map(&:place)), mould: mould, **limits).tap { |slot| @slots << slot }
      end

      # Takes charge of workers that this process forked before its hot restart. Those in +serving+ accept connections.
      def adopt(pids, serving)
        @slots.concat(pids.map { |pid| Slot.elder(pid, serving: serving.include?(pid)) })
      end

      def to_a = @slots.dup
      def empty? = @slots.empty?
      def include?(slot) = @slots.include?(slot)
      def elders = @slots.select { |slot| slot.index.nil? }

      # The workers that are not elders, and that stay.
      def staying
        @slots.reject { |slot| slot.index.nil? || slot.retiring? }
      end

      def pids = @slots.filter_map(&:pid)

      # Whether all workers that stay accept connections.
      def ready?
        staying.all?(&:ready?)
      end

      # The workers that accept connections and will continue to, including elders.
      def serving
        @slots.select { |slot| slot.ready? && !slot.retiring? }
      end

      # Whether no worker is missing among those that stay.
      def whole?
        staying.none?(&:missed?)
      end

      # The workers that have ended, as [[slot, status], …]. Pass them to #bury once their last messages have been read.
      # Waits only for workers: the app waits for its own children.
      def reap
        @unseen = false
        to_a.select(&:running?).filter_map do |slot|
          _, status = Process.wait2(slot.pid, Process::WNOHANG)
          [slot, status] if status
        rescue Errno::ECHILD
          [slot, nil] unless alive?(slot.pid) # it is not ours yet: its parent is still there
        end
      end

      # Removes the workers that #reap returned, and has them replaced.
      def bury(ended, now)
        ended.each { |slot, status| bury_one(slot, status, now) }
      end

      # Kills the workers whose deadline has passed at +now+, and has the workers forked that are due.
      def tend(now)
        to_a.each { |slot| ended(slot, now) if missing?(slot) }
        to_a.each { |slot| enforce(slot, now) }
        @slots.each { |slot| order(slot, now) if slot.due?(now) && castable?(slot) }
      end

      # Whether a worker is to be forked at +now+ whose mould has ended.
      def short?(now)
        @slots.any? { |slot| slot.due?(now) && slot.mould&.closed? }
      end

      # Handles a message from a worker, or from its mould.
      def hear(message, now)
        facts = message.facts
        slot = @slots.find { |each| each.place == facts[:place] && each.taken? }
        return dismiss(message) if slot.nil? || (slot.pid && slot.pid != facts[:pid])
        return ended(slot, now) if message.event == :unforked

        forked(slot, facts[:pid]) unless slot.pid
        slot.ready(now) if message.event == :ready
        seen(slot, facts.except(:place, :pid), now) if %i[ready beat].include?(message.event)
      end

      # Workers that were to be forked from the mould +from+ are forked from +to+.
      def move(from, to)
        @slots.each { |slot| slot.move(to) if slot.mould.equal?(from) }
      end

      # Lets a worker finish its requests, and does not replace it. With LEAVE the worker leaves the backlog to the
      # others.
      def retire(slot, name = Signals::LEAVE)
        return if slot.retiring?

        slot.retire(Cuttle.now + @cluster.settings.shutdown_timeout + GRACE, name)
        return signal(name, slot) if slot.running?

        @slots.delete(slot) unless slot.taken? # it is being forked, and gets the signal then
      end

      # Lets those that stay be +count+ at most.
      def limit(count)
        staying.drop(count).each { |slot| retire(slot) }
      end

      # The worker with that pid is a mould now, and no longer a worker.
      def release(pid)
        slot = @slots.find { |each| each.pid == pid } or return
        @slots.delete(slot)
        @tally.ended(pid, died: false)
        @cluster.scoreboard.clear(slot.place)
      end

      # Whether all workers that have ended since #stop had answered their requests.
      def clean? = @clean

      # Retires all workers. The listeners close with the last one, so the workers answer the requests in the backlog.
      def stop
        @stopping = true
        to_a.each { |slot| retire(slot, "TERM") }
      end

      # Kills all.
      def kill
        @slots.select(&:running?).each { |slot| kill_one(slot) }
      end

      # Sends a signal to all.
      def signal_all(name)
        @slots.select(&:running?).each { |slot| signal(name, slot) }
      end

      # Seconds until #tend has something to do; nil: not before a signal or a message.
      def wake_in(now)
        return 0 if @unseen || @slots.any? { |slot| missing?(slot) }

        @slots.filter_map { |slot| slot.wake_in(now) if slot.taken? || slot.retiring? || pending?(slot, now) }.min
      end

      private

      def free(taken)
        (0..).find { |number| !taken.include?(number) }
      end

      def forked(slot, pid)
        slot.forked(pid)
        @unseen = true # it may have ended already, before anybody knew whose signal that was
        @tally.began(pid, slot.index)
        signal(slot.farewell, slot) if slot.retiring?
      end

      def seen(slot, figures, now)
        slot.seen(now, figures)
        @tally.note(slot.pid, slot.index, figures)
      end

      # Another worker has the place of a worker that was given up before it was forked.
      def dismiss(message)
        Process.kill("TERM", message.facts[:pid]) if message.event == :forked
      rescue Errno::ESRCH
        nil # it has ended already
      end

      # A worker that was never there.
      def ended(slot, now)
        slot.retiring? ? @slots.delete(slot) : slot.ended(now)
      end

      # Its mould died before it forked this worker.
      def missing?(slot)
        slot.taken? && !slot.running? && slot.mould&.dead?
      end

      def castable?(slot)
        slot.mould&.loaded? && !slot.mould.closed?
      end

      # Whether this worker is to be forked now or later. (If it is late because its mould has ended, it waits for the
      # next mould.)
      def pending?(slot, now)
        castable?(slot) || (slot.mould&.closed? && !slot.due?(now))
      end

      def order(slot, now)
        slot.ordered(now)
        slot.mould.order(slot)
      end

      def signal(name, slot)
        Process.kill(name, slot.pid)
      rescue Errno::ESRCH
        nil # dead, but not reaped yet
      end

      def kill_one(slot)
        signal("KILL", slot)
        @clean &&= !@stopping
      end

      def enforce(slot, now)
        case slot.overdue(now)
        when :dump then signal(Signals::DUMP.last, slot)
        when :kill then slot.running? ? put_down(slot) : unforked(slot, now)
        end
      end

      def put_down(slot)
        @cluster.report.call("#{slot} #{slot.fault}: killed")
        kill_one(slot)
      end

      # It was never forked, so the mould hangs.
      def unforked(slot, now)
        unless slot.retiring?
          @cluster.report.call("#{slot.mould} did not fork worker #{slot.index} in time: killed")
          slot.mould.hangs(now)
        end
        ended(slot, now)
      end

      def alive?(pid)
        Process.kill(0, pid)
      rescue Errno::ESRCH
        false
      end

      def bury_one(slot, status, now)
        @tally.ended(slot.pid, died: !slot.retiring? && !slot.index.nil?)
        @cluster.scoreboard.clear(slot.place) if slot.index
        @clean &&= !@stopping || finished?(status)
        return replace(slot, status, now) unless slot.retiring? || slot.index.nil?

        tell_loss(slot, status) if slot.ready? && !slot.retiring?
        @slots.delete(slot)
      end

      # Whether a worker that had to stop has answered its requests, as far as is known. Stuck ones have got their 503.
      def finished?(status)
        status.nil? || status.success? || stuck?(status)
      end

      def replace(slot, status, now)
        name = slot.to_s
        stuck?(status) ? slot.gave_way(now) : slot.ended(now)
        delay = slot.wake_in(now)
        @cluster.report.call("#{name} #{ending(status)}, the next one starts " \
                             "#{delay.zero? ? "now" : "in #{delay.round(1)} s"}")
      end

      # Only the former program could have forked another elder.
      def tell_loss(elder, status)
        @cluster.report.call("#{elder} #{ending(status)}, and is not replaced before the new app is loaded")
      end

      def ending(status)
        stuck?(status) ? "ended for a request that was stuck" : "died (#{Workers.cause(status)})"
      end

      def stuck?(status) = status&.exitstatus == Worker::STUCK
    end
  end
end
