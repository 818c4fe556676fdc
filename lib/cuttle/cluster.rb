# frozen_string_literal: true

module Cuttle
  # The supervisor: forks the workers, replaces those that die, and stops them. It loads the app once, before the fork,
  # so that workers share its memory. It never serves. It sleeps until a signal or a deadline wakes it.
  #
  # TTIN and TTOU add and remove one worker. INT, TERM, QUIT and HUP stop all: every worker finishes its requests under
  # way. After shutdown_timeout, or at a second INT, the supervisor kills the workers. A worker whose supervisor dies
  # stops by itself in the same way.
  #
  # A Scoreboard shows each worker how many connections every worker has. A worker leaves new connections to a worker
  # that has fewer and a free thread.
  class Cluster
    autoload :Cpus, "cuttle/cluster/cpus"
    autoload :Slot, "cuttle/cluster/slot"

    # The supervisor kills a worker that still runs this many seconds after its own shutdown_timeout.
    GRACE = 1

    # The number of workers that may be added with a place in the scoreboard. More of them serve without a place.
    ADDED = 32

    # +report+ takes one line for the user.
    def initialize(app, settings:, listeners:, report:)
      scoreboard = Cores.fetch(settings.core)::Scoreboard
      @scoreboard = scoreboard.new([settings.workers + ADDED, scoreboard::MOST].min)
      @server = Server.new(app, settings: settings, listeners: listeners, scoreboard: @scoreboard)
      @settings = settings
      @listeners = listeners
      @report = report
      @slots = Array.new(settings.workers) { |index| Slot.new(index) }
      @stopping = false
    end

    # Returns the exit status: 0, or 1 if a worker had to be killed. Yields once signals are handled.
    def run
      @signals = Signals.new(Signals::STOP + %w[CHLD TTIN TTOU])
      @lifeline, @life = IO.pipe # workers read it; it ends when the supervisor does
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
      @signals.wait(@slots.filter_map { |slot| slot.wake_in(Cuttle.now) }.min).each { |signal| obey(signal) }
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

    # The last worker stays.
    def remove
      staying = @slots.reject(&:retiring?)
      retire(staying.last) if staying.length > 1
    end

    # From now on new connections are refused. Otherwise they would wait for a worker that never comes.
    def stop
      @stopping = true
      @listeners.close
      @slots.reject(&:retiring?).each { |slot| retire(slot) }
    end

    def retire(slot)
      slot.retire(Cuttle.now + @settings.shutdown_timeout + GRACE)
      slot.running? ? signal("TERM", slot) : @slots.delete(slot)
    end

    def kill(slots)
      slots.select(&:running?).each { |slot| signal("KILL", slot) }
      @killed = true
    end

    def signal(name, slot)
      Process.kill(name, slot.pid)
    rescue Errno::ESRCH
      nil # dead, but not reaped yet
    end

    def kill_overdue
      overdue = @slots.select { |slot| slot.overdue?(Cuttle.now) }
      return if overdue.empty?

      kill(overdue)
      overdue.each { |slot| @report.call("#{slot} did not end in time: killed") }
    end

    def start_due
      @slots.select { |slot| slot.due?(Cuttle.now) }.each { |slot| start(slot) }
    end

    def start(slot)
      slot.started(fork { become(slot) }, Cuttle.now)
    rescue SystemCallError => error
      slot.ended(Cuttle.now)
      @report.call("can't fork worker #{slot.index}: #{error.message}")
    end

    # Runs in the child. It keeps only the listeners and the lifeline of the supervisor.
    def become(slot)
      worker = Process.pid
      @signals.close
      @life.close
      @scoreboard.take(slot.index)
      %w[CHLD TTIN TTOU].zip(%w[DEFAULT IGNORE IGNORE]) { |name, handler| trap(name, handler) }
      Process.setproctitle("cuttle: worker #{slot.index} of #{Process.ppid}")
      exit Worker.new(@server, report: @report, parent: @lifeline).run
    rescue StandardError, ScriptError => error
      raise unless Process.pid == worker # a child that the app forked: Ruby reports its exceptions

      @report.call("worker #{slot.index}: #{error.message} (#{error.class})")
      raise if @settings.debug

      exit 1
    end

    # Reaps only our own workers. A child of the app is the app's to wait for.
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
      stuck ? slot.gave_way(Cuttle.now) : slot.ended(Cuttle.now)
      delay = slot.wake_in(Cuttle.now)
      time = delay.zero? ? "now" : "in #{delay.round(1)} s"
      end_of_it = stuck ? "ended for a request that was stuck" : "died (#{cause(status)})"
      @report.call("#{name} #{end_of_it}, the next one starts #{time}")
    end

    def cause(status)
      status.signaled? ? "SIG#{Signal.signame(status.termsig)}" : "exit status #{status.exitstatus}"
    end
  end
end
