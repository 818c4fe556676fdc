# frozen_string_literal: true

module Cuttle
  # The supervisor: forks the workers, replaces those that die, and ends them. It loads the app once before (so that
  # workers share its memory), never serves, and sleeps until a signal or a deadline wakes it.
  #
  # TTIN and TTOU: one worker more, one fewer. INT, TERM, QUIT, HUP: every worker finishes what it has under way;
  # after shutdown_timeout, or at a second INT, it is killed. A worker whose supervisor dies ends likewise by itself.
  #
  # In a Scoreboard the workers see how many connections each of them has, and leave new ones to who has fewer and waits.
  class Cluster
    autoload :Cpus, "cuttle/cluster/cpus"
    autoload :Slot, "cuttle/cluster/slot"

    # A dying worker has this long to be gone after its own shutdown_timeout, before it is killed.
    GRACE = 1

    # Workers that may be added; more than that serve without a place in the scoreboard.
    ADDED = 32

    # +report+ takes a line for the user.
    def initialize(app, settings:, listeners:, report:)
      @scoreboard = Scoreboard.new([settings.workers + ADDED, Scoreboard::MOST].min)
      @server = Server.new(app, settings: settings, listeners: listeners, scoreboard: @scoreboard)
      @settings = settings
      @listeners = listeners
      @report = report
      @slots = Array.new(settings.workers) { |index| Slot.new(index) }
      @stopping = false
    end

    # Returns the exit status: 0, or 1 where a worker had to be killed. Yields once signals are heard.
    def run
      @signals = Signals.new(Signals::STOP + %w[CHLD TTIN TTOU])
      @lifeline, @life = IO.pipe # workers read it: its end is ours
      @killed = false
      @server.preload
      yield if block_given?
      Process.warmup if Process.respond_to?(:warmup)
      supervise until @stopping && @slots.empty?
      @killed ? 1 : 0
    ensure
      [@lifeline, @life].compact.each(&:close)
      @signals&.release
    end

    private

    def supervise
      start_due
      kill_overdue
      @signals.wait(@slots.filter_map { |slot| slot.wake_in(now) }.min).each { |signal| obey(signal) }
      reap
    end

    def obey(signal)
      case signal
      when "TTIN" then add
      when "TTOU" then remove
      when *Signals::STOP then @stopping && signal == "INT" ? kill(@slots) : stop
      end
    end

    def add
      @slots << Slot.new((0..).find { |index| @slots.none? { |slot| slot.index == index } }) unless @stopping
    end

    # One always stays.
    def remove
      staying = @slots.reject(&:retiring?)
      retire(staying.last) if staying.length > 1
    end

    # New connections are refused from now on, instead of waiting for a worker that never comes.
    def stop
      @stopping = true
      @listeners.close
      @slots.reject(&:retiring?).each { |slot| retire(slot) }
    end

    def retire(slot)
      slot.retire(now + @settings.shutdown_timeout + GRACE)
      slot.running? ? signal("TERM", slot) : @slots.delete(slot)
    end

    def kill(slots)
      slots.select(&:running?).each { |slot| signal("KILL", slot) }
      @killed = true
    end

    def signal(name, slot)
      Process.kill(name, slot.pid)
    rescue Errno::ESRCH
      nil # dead, and not reaped yet
    end

    def kill_overdue
      overdue = @slots.select { |slot| slot.overdue?(now) }
      return if overdue.empty?

      kill(overdue)
      overdue.each { |slot| @report.call("#{slot} did not end in time: killed") }
    end

    def start_due
      @slots.select { |slot| slot.due?(now) }.each { |slot| start(slot) }
    end

    def start(slot)
      slot.started(fork { become(slot) }, now)
    rescue SystemCallError => error
      slot.ended(now)
      @report.call("can't fork worker #{slot.index}: #{error.message}")
    end

    # In the child: nothing of the supervisor stays but the listeners and the lifeline.
    def become(slot)
      worker = Process.pid
      @signals.close
      @life.close
      @scoreboard.take(slot.index)
      %w[CHLD TTIN TTOU].zip(%w[DEFAULT IGNORE IGNORE]) { |name, handler| trap(name, handler) }
      Process.setproctitle("cuttle: worker #{slot.index} of #{Process.ppid}")
      exit Worker.new(@server, report: @report, parent: @lifeline).run
    rescue StandardError, ScriptError => error
      raise unless Process.pid == worker # a child that the app forked: what it raises is Ruby's to report

      @report.call("worker #{slot.index}: #{error.message} (#{error.class})")
      raise if @settings.debug

      exit 1
    end

    # Only our own: a child of the app's is the app's to wait for.
    def reap
      @slots.select(&:running?).each do |slot|
        _, status = Process.wait2(slot.pid, Process::WNOHANG)
        bury(slot, status) if status
      end
    end

    def bury(slot, status)
      @scoreboard.clear(slot.index)
      return @slots.delete(slot) if slot.retiring?

      name = slot.to_s
      stuck = status.exitstatus == Worker::STUCK
      stuck ? slot.gave_way(now) : slot.ended(now)
      delay = slot.wake_in(now)
      time = delay.zero? ? "now" : "in #{delay.round(1)} s"
      end_of_it = stuck ? "ended for a request that was stuck" : "died (#{cause(status)})"
      @report.call("#{name} #{end_of_it}, the next one starts #{time}")
    end

    def cause(status)
      status.signaled? ? "SIG#{Signal.signame(status.termsig)}" : "exit status #{status.exitstatus}"
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
