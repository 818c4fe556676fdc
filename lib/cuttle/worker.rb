# frozen_string_literal: true

module Cuttle
  # A process that serves until it must stop: the only process (-w 0), or one worker of a cluster. The main thread runs
  # the engine. A second thread waits for a signal or the parent's death, gives signs of life (Pulse), and ends the
  # process (Drain).
  #
  #   serving --- INT, TERM, QUIT, HUP, parent gone ---> draining --- all answered ---> parting ---> exit 0
  #      |                                                  |--- a second INT -------> exit 130
  #      |                                                  |--- shutdown_timeout ---> exit 1
  #      |                                                  |--- only stuck requests -> exit STUCK, or 0
  #      |                                                  `--- to become the mould -> parting ---> :mould
  #      `--- USR1, USR2 (only process) ---> rehearsing --- boots ---> draining ---> parting ---> executes itself
  #
  # Parting: the hooks run, and WebSockets that the app leaves open are closed (Server#close_websockets). The hooks of
  # an only process have PARTING seconds of their own. If it no longer waits for requests, they have LAST seconds; a
  # worker of a cluster runs none then.
  #
  # Requests in the backlog are answered first, unless other processes will accept them: the program that this process
  # executes, or, if the supervisor sends QUIT, the other workers. So a signal to stop that comes while an only process
  # drains for a restart is for the new program.
  #
  # HUP opens the output files again if there are any. PWR and INFO print the backtraces of all threads.
  #
  # A child that the app forks from the main thread also leaves the engine here, and exits as the app wants.
  #
  # A request that is stuck in the app (--app-timeout) stops a worker of a cluster as TERM does, and the supervisor
  # starts another. Without a supervisor the process continues without that thread.
  class Worker
    autoload :Drain, "cuttle/worker/drain"
    autoload :Figures, "cuttle/worker/figures"
    autoload :Pulse, "cuttle/worker/pulse"

    # The exit status of a worker that stopped because of a stuck request (EX_TEMPFAIL).
    STUCK = 75

    # Seconds for the end of WebSockets when the time to stop is over. The supervisor kills a worker after one.
    HASTE = 0.5

    # Seconds that after_stopped has at least, once all requests are answered. It may have to wait for work that it
    # stops.
    PARTING = 20

    # The same if the process does not wait for its requests any longer.
    LAST = 2

    # +report+ takes one line for the user. +release+ is called before the process exits without having drained. For a
    # cluster's worker: +parent+, the read end of a pipe whose write end only the supervisor has; +tell+, which takes an
    # event and facts for the supervisor; +watched+, which says whether these figures are being observed; its +index+;
    # +succeed+, or nil, which returns at Signals::SUCCEED whether this worker must become the mould. For the only
    # process: +restart+, a Restart or nil.
    def initialize(server, report:, hooks:, redirection:, parent: nil, tell: nil, watched: nil, index: nil,
                   succeed: nil, restart: nil, release: -> {})
      @server = server
      @settings = server.settings
      @report = report
      @hooks = hooks
      @redirection = redirection
      @parent = parent
      @index = index
      @succeed = succeed
      @restart = restart
      @release = release
      @pulse = Pulse.new(server, tell, watched)
      @figures = Figures.new(server) unless parent
    end

    # See Figures. A worker of a cluster has none, because its supervisor reports them.
    attr_reader :figures

    # Loads the code of a worker now, because a process without free descriptors can't load a file.
    def self.preload
      [Backtraces, Drain, Pulse, Notify::Heartbeat, Signals, Stats].each(&:name)
    end

    # Serves. Returns the exit status, :restart if the process must execute itself, or :mould if it must continue as the
    # mould. Yields once it is about to accept. Raises what the engine raises.
    def run
      @process = Process.pid
      self.class.preload
      @signals = Signals.new(signals, files: @redirection.any?)
      @restart&.signals = @signals
      @drain = Drain.new(@server, @signals, @pulse, @report) { |name| obey(name) }
      @redirection.reopen # a HUP before this moment was not heard
      Stats.serve(@server, **{ index: @index }.compact)
      @server.when_stuck { @parent ? retire : bear }
      @server.prepare
      Warmup.call(@settings.core) if @settings.warmup && !@parent # a worker's memory is its mould's
      yield if block_given?
      attendant = Thread.new { attend }
      @server.run
      ended
    ensure
      end_as_server(attendant) if Process.pid == @process
    end

    # Does what a signal does. Any thread may call it.
    def signal(name)
      raise UsageError, "the server is only just starting" unless @signals

      @signals.add(name)
    end

    # Whether it serves and will continue to.
    def ready? = @server.serving? && !@leaving

    private

    def signals
      others = @parent ? [*(Signals::SUCCEED if @succeed)] : Signals::RESTART + Signals::WORKERS
      Signals::STOP + Signals::DUMP + others
    end

    # A child that the app forked has nothing to tell.
    def ended
      return 0 unless Process.pid == @process

      part unless (again = restarting?)
      close_websockets(@drain.left)
      return :restart if again
      return :mould if successor?

      status
    end

    def status
      return STUCK if @stuck

      @broken ? 1 : 0
    end

    # Runs once, even if the time ends, or a second INT comes, while the hooks run.
    def part
      return if @parted

      @parted = true
      return last_of_worker if @parent

      @drain.hook(:after_stopped, PARTING)
      @hooks.attempt(:after_stopped)
    end

    # The supervisor doesn't wait longer for its hooks.
    def last_of_worker
      @pulse.beat # the last figures, which count what was served since the sign of life before
      @drain.hook(:before_worker_shutdown)
      @hooks.attempt(:before_worker_shutdown, @index)
    end

    def close_websockets(seconds)
      told, untold = @server.close_websockets(seconds)
      return if [told, untold].none?(&:positive?)

      @report.call("WebSockets that the app had left open: #{told} closed with 1001 (going away)" \
                   "#{", #{untold} without a Close frame, because data was under way" if untold.positive?}")
    end

    # The supervisor may send a signal while the at_exit blocks of the worker run. Before a restart the handlers go on
    # to note signals.
    def end_as_server(attendant)
      attendant&.kill&.join
      return @signals&.mute if @parent

      @signals&.release unless restarting?
    end

    def retire
      return if @stuck

      @stuck = true
      signal(Signals::LEAVE)
    end

    def bear
      @report.call("this process can't be replaced, and continues; only workers (-w) are replaced") unless @bears
      @bears = true
    end

    def attend
      booted
      @pulse.beat until told_to_stop?
      leave
    rescue StandardError => error
      leave_broken(error)
    end

    def leave
      @leaving = true
      @restart&.abandon unless restarting?
      Notify.stopping unless @parent || restarting?
      @drain.wait_for_balancers unless @parent || restarting?
      give_up(@drain.run(leave_backlog: leave_backlog?) || status)
    end

    # Nobody but this thread handles signals, so a process that it can't attend to must end.
    def leave_broken(error)
      @leaving = @broken = true
      @report.call("this process ends: #{Error.line(error)}")
      give_up(@drain.run(leave_backlog: leave_backlog?) || status)
    rescue StandardError
      give_up(1)
    end

    def booted
      @pulse.ready
      @pulse.during { @hooks.attempt(:after_booted) } unless @parent
    end

    # Whether one of the received signals ends this process. The signals after it are handled while it stops.
    def told_to_stop?
      signals = @signals.wait(@pulse.interval, *[@parent].compact)
      stop = signals.index { |name| obey(name) == :stop } or return orphaned?
      signals.drop(stop + 1).each { |name| @signals.add(name) }
      true
    end

    def obey(name)
      case name
      when "HUP" then @redirection.any? ? @redirection.reopen : :stop
      when "RESTART" then restart
      when "HALT" then give_up(130)
      when *Signals::DUMP then Backtraces.print
      when *Signals::RESTART then @parent ? succeed : rehearse
      when *Signals::WORKERS then @report.call("#{name}: there are no workers (-w 0)")
      when *Signals::STOP then :stop
      end
    rescue StandardError => error
      @report.call("#{name}: #{Error.line(error)}") # and the next signal is obeyed
    end

    # The supervisor has asked this worker, or an operator has sent the signal. If the supervisor has asked, the
    # worker's successor serves already. So if the worker can't become the mould, it ends as at LEAVE.
    def succeed
      @successor = @succeed.call
      :stop if @successor
    rescue SystemCallError
      @signals.add(Signals::LEAVE)
      raise
    end

    # A stop that comes while it drains ends the process after all.
    def successor?
      @successor && !@stuck && !stopped?
    end

    def orphaned?
      @parent && @parent.read_nonblock(1, exception: false).nil?
    end

    def rehearse
      return @report.call("hot restart: this program does not know how it was started") unless @restart

      @restart.try { signal("RESTART") }
    end

    # The listeners are copied first, because the engine closes its own.
    def restart
      @restart.keep
      Notify.reloading("restarting")
      @restart.with_changes_to_env { @pulse.during { @hooks.attempt(:before_restart) } }
      @restarting = !stopped?
      @drain.restart
      :stop
    end

    # Whether it will execute itself. A stop that comes while it drains is for the new program, because connections wait
    # in the backlog for that. If that does not obey it, the process ends after all.
    def restarting?
      @restarting && (@restart.passes_stop? || !stopped?)
    end

    def stopped?(*except) = @signals.stop?(*except, files: @redirection.any?)

    # Whether other processes accept the connections in the backlog.
    def leave_backlog?
      return restarting? unless @parent
      return true if successor?

      @signals.came?(Signals::LEAVE) && !stopped?(Signals::LEAVE)
    end

    def give_up(status)
      unless status == 130
        close_websockets(HASTE)
        @restart.exec(otherwise: "the server ends") if restarting?
      end
      @parent ? @pulse.beat : Thread.new { part }.join(LAST)
      @release.call
      exit!(status)
    end
  end
end
