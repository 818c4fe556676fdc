# frozen_string_literal: true

module Cuttle
  class Cluster
    # The moulds of a supervisor: the one that workers are forked from; in a phased restart also the one before or after
    # it; and those that are about to end. It never waits.
    class Moulds
      # Seconds until a mould that died is replaced.
      RECAST = 2

      # Seconds that a mould has to end.
      PATIENCE = 5

      attr_reader :current

      def initialize(forge, membership, workers)
        @forge = forge
        @cluster = membership
        @workers = workers
        @phase = 0
        @leaving = []
      end

      # Takes charge of moulds that this process forked before its hot restart. They end by themselves, because their
      # pipes have ended.
      def adopt(pids)
        @leaving.concat(pids.map { |pid| Mould.new(nil, pid) })
        @leaving.each { |mould| mould.end_by(Cuttle.now + PATIENCE) }
      end

      # Begins to load the app.
      def start
        @current = cast
      end

      # The mould with +pid+ has loaded the app, or was a worker that had loaded it.
      def hear(pid)
        @loadable = true
        return warm_up if @appointed&.pid == pid

        all.find { |mould| mould.pid == pid }&.loaded
      end

      # Whether the mould is a process of its own, which a mould with new code can replace.
      def renewable? = !@current.pid.nil?

      # Asks a worker to become the next mould, once it has answered its requests. Returns the Mould. Raises
      # SystemCallError if the worker can't be asked; then nothing has changed.
      def appoint(slot)
        @appointed = Mould.new(@phase + 1, directory: @current.directory).succeed(slot.pid, @cluster.handover)
        @cluster.keep(@appointed)
        @workers.retire(slot, Signals::SUCCEED)
        @appointed
      end

      # The worker that was asked to become a mould, if there is one, must end instead.
      def dismiss
        release(@appointed) if @appointed
        @appointed = nil
      end

      # Begins a phased restart. The new mould works where the name of the directory leads now, to a newer release.
      def renew
        return wait_for_refork if @renewal&.warm?
        return @cluster.report.call("a phased restart is under way already") if @renewal

        @wanted = false
        release = @cluster.directory.real
        @cluster.report.call("phased restart: loading the app")
        @phase += 1
        @renewal = Renewal.new(@workers, cast(release))
        @patience = @cluster.settings.worker_boot_timeout&.+(Cuttle.now)
      rescue SystemCallError => error # no such directory, or no memory or processes left at the moment
        @cluster.report.call("phased restart: #{error.message}")
      end

      # The Relief of a phased restart, or of a refork, whose new worker is not there yet; nil if there is none.
      def relief = @renewal&.relief

      # Whether no phased restart or refork is under way, and workers can be forked, at once or after #rest.
      def still? = @renewal.nil? && @appointed.nil? && (@resting || awake?)

      # Whether workers can be forked at once.
      def awake? = @current.loaded? && !@current.closed? && !@current.dead?

      # Lets the mould end, although nothing else takes its place. The next one is started when a worker has to be
      # forked.
      def rest
        @resting = true
        retire(@current)
      end

      # Reaps and replaces moulds, and goes on with a phased restart.
      def tend(now)
        reap(now)
        (all | @leaving).each { |mould| mould.kill_if_overdue(now) }
        return if @stopping

        @recast ||= now if @resting && @current.dead? && @workers.short?(now)
        recast if @recast && @recast <= now
        give_up if overdue? && @patience <= now
        pursue if @renewal
      end

      # Seconds until #tend has something to do; nil: not before a signal or a message.
      def wake_in(now)
        at = [@recast, (@patience if overdue?), *(all | @leaving).map(&:deadline)].compact.min
        [at - now, 0].max if at
      end

      # Lets all of them open their output files again.
      def reopen
        all.each(&:reopen)
      end

      def stop
        @stopping = true
        dismiss
        all.each { |mould| retire(mould) }
        @renewal = @former = @recast = nil
      end

      # Whether the app could not be loaded, and there is nothing else to serve with.
      def failed? = @failed

      # Whether none is left that was told to end.
      def empty? = @leaving.empty?

      # Of all that live.
      def pids = (all | @leaving).reject(&:dead?).filter_map(&:pid)

      private

      def all
        [@current, @former, @renewal&.mould].compact.uniq
      end

      # On a system that adopts no orphans, workers must be children of this process. A mould that takes the place of
      # another works in the same directory, so that it has the code of the workers.
      def cast(directory = @current&.directory)
        return Inline.new(@forge) unless Cores.fetch(@cluster.settings.core).adopt_orphans

        mould = Mould.new(@phase, directory: directory)
        @cluster.pass_on { mould.start { |commands| @forge.live(commands, directory) } }
        @cluster.keep(mould)
        mould
      end

      # The worker that was asked has answered its requests, and is a mould now.
      def warm_up
        @workers.release(@appointed.pid)
        @appointed.loaded
        @phase += 1
        @renewal = Renewal.new(@workers, @appointed, warm: true)
        @appointed = nil
      end

      # Two restarts at once would replace two workers at once.
      def wait_for_refork
        @cluster.report.call("phased restart: waiting for the end of the refork")
        @wanted = true
      end

      # Lets a mould end. A mould that still loads the app may take long to notice, and is of no use, so it is killed.
      def retire(mould)
        return if mould.nil? || mould.pid.nil? || mould.dead? || @leaving.include?(mould)

        release(mould)
        mould.end_by(mould.loaded? ? Cuttle.now + PATIENCE : 0)
        @leaving << mould
      end

      def release(mould)
        mould.close
        @cluster.drop(mould)
      end

      def reap(now)
        (all | @leaving).each do |mould|
          next if mould.pid.nil? || mould.dead?

          ended, status = wait_for(mould)
          next unless ended

          mould.died
          @leaving.delete(mould) || lost(mould, status, now)
        end
      end

      # [pid, status] of a mould that has ended; nil if it runs. One that died at the moment at which it said that it is
      # a mould was reaped as the worker that it was (see Workers#reap), so nobody knows its status any more.
      def wait_for(mould)
        Process.wait2(mould.pid, Process::WNOHANG)
      rescue Errno::ECHILD
        [mould.pid, nil]
      end

      # A mould ended by itself.
      def lost(mould, status, now)
        release(mould)
        tell_end(mould, status) unless mould.loaded? || status&.exitstatus == Forge::SAID
        @renewal.fail if mould.equal?(@renewal&.mould)
        missing(now) if mould.equal?(@current)
      end

      def tell_end(mould, status)
        @cluster.report.call("#{mould} ended while it loaded the app (#{Workers.cause(status)})")
      end

      # If workers still serve, from this program or from before a hot restart, the app can still be repaired.
      def missing(now)
        return @failed = true unless @loadable || @renewal || @workers.elders.any?

        @cluster.report.call("#{@current} died; the next one starts in #{RECAST} s")
        @recast = now + RECAST
      end

      # Workers that are due are forked from the new mould.
      def recast
        @recast = nil
        return unless @current.dead? # a phased restart may have put another one there

        before = @current
        @current = cast
        @resting = false
        @workers.move(before, @current)
      rescue SystemCallError => error # no memory, processes or descriptors left at the moment
        @cluster.report.call("can't start the process that loads the app: #{error.class.new.message}")
        @recast = Cuttle.now + RECAST
      end

      def overdue? = @renewal && @patience && !@renewal.mould.loaded?

      # The new code does not finish loading. At PWR it prints where it is.
      def give_up
        @cluster.report.call("phased restart: the app was not loaded after " \
                             "#{@cluster.settings.worker_boot_timeout} s: killed")
        @renewal.fail
      end

      def pursue
        @renewal.step
        advance if @renewal.proved? && !@current.equal?(@renewal.mould)
        return unless @renewal.done? || @renewal.failed?

        @cluster.report.call("#{@renewal}: #{@renewal.done? ? "done" : "given up, the old workers stay"}")
        retire(@current.equal?(@renewal.mould) ? @former : @renewal.mould)
        @workers.move(@former, @current) if @former
        @former = @renewal = nil
        renew if @wanted
      end

      # The new mould has proved itself: from now on, added workers are forked from it.
      def advance
        @recast = nil # this one takes the place of one that died
        @resting = false
        @former = @current
        @current = @renewal.mould
      end
    end
  end
end
