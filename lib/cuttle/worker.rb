# frozen_string_literal: true

module Cuttle
  # A process that serves until it is told to stop: the only process (-w 0), or one worker of a cluster. The main thread
  # runs the engine. A second thread waits for a signal or the parent's death.
  #
  #   serving --- INT, TERM, QUIT, HUP, parent gone ---> draining --- all answered ---> exit 0
  #                                                         |--- a second INT -------> exit 130
  #                                                         |--- shutdown_timeout ---> exit 1
  #                                                         `--- only stuck requests -> exit STUCK, or 0
  #
  # A child that the app forks from the main thread also leaves the engine here, and exits as the app wants.
  #
  # A request that is stuck in the app (--app-timeout) stops a worker of a cluster as TERM does, and the supervisor
  # starts another. Without a supervisor the process continues without that thread.
  class Worker
    # The exit status of a worker that stopped because of a stuck request (EX_TEMPFAIL).
    STUCK = 75

    # Seconds between checks whether only stuck requests are left.
    LOOK = 0.1

    # +parent+ is the read end of a pipe; only the parent has its write end. +report+ takes one line for the user.
    # +release+ is called before the process exits without having drained.
    def initialize(server, report:, parent: nil, release: -> {})
      @server = server
      @report = report
      @parent = parent
      @release = release
    end

    # Serves; returns the exit status. Yields once it is about to accept. Raises what the engine raises.
    def run
      @process = Process.pid
      @signals = Signals.new(Signals::STOP)
      @server.when_stuck { @parent ? retire : bear }
      @server.prepare
      yield if block_given?
      attendant = Thread.new { attend }
      @server.run
      @stuck ? STUCK : 0
    ensure
      end_as_server(attendant) if Process.pid == @process
    end

    private

    # The supervisor may send a signal while the at_exit blocks of the worker run.
    def end_as_server(attendant)
      attendant&.kill&.join
      @parent ? @signals&.mute : @signals&.release
    end

    def retire
      return if @stuck

      @stuck = true
      Process.kill("TERM", Process.pid)
    end

    def bear
      @report.call("this process can't be replaced, and goes on; workers (-w) are replaced") unless @bears
      @bears = true
    end

    def attend
      nil until told_to_stop?
      @server.stop_soon
      give_up(drain)
    end

    def told_to_stop?
      @signals.wait(nil, *[@parent].compact).any? || orphaned?
    end

    def orphaned?
      @parent && @parent.read_nonblock(1, exception: false).nil?
    end

    # The exit status when waiting is over. If the engine ends first, this thread ends with it.
    def drain
      deadline = Cuttle.now + @server.settings.shutdown_timeout
      while (left = deadline - Cuttle.now).positive?
        return 130 if @signals.wait(@server.settings.app_timeout ? [left, LOOK].min : left).include?("INT")
        return @stuck ? STUCK : 0 if @server.stranded?
      end
      @report.call("requests were still under way after #{@server.settings.shutdown_timeout} s")
      1
    end

    def give_up(status)
      @release.call
      exit!(status)
    end
  end
end
