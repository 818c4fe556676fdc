# frozen_string_literal: true

module Cuttle
  # Lets a thread wait for signals. A handler only records the signal and writes an octet to a pipe. The caller of #wait
  # acts on it outside the handler, where everything is allowed. #release restores the previous handlers.
  class Signals
    autoload :Early, "cuttle/signals/early"

    # The signals that stop a server, all in the same way: it finishes the requests under way. (HUP: the terminal went
    # away, or, where output goes to files, they are opened again. The JVM keeps QUIT to itself.)
    STOP = (%w[INT TERM QUIT HUP] - (RUBY_ENGINE == "jruby" ? %w[QUIT] : [])).freeze

    # The one with which a supervisor stops a worker while others continue to accept from its listeners.
    LEAVE = "QUIT"

    # The signal with which it asks a worker to become the mould.
    SUCCEED = "USR1"

    # Print the backtraces of all threads. Systems have one or the other.
    DUMP = (RUBY_ENGINE == "jruby" ? [] : %w[INFO PWR] & Signal.list.keys).freeze

    # USR1 is a phased restart, USR2 a hot one. The JVM keeps USR1 to itself.
    RESTART = (RUBY_ENGINE == "jruby" ? [] : %w[USR1 USR2]).freeze

    # One worker more, one less. The system stops a process that has no handlers for them.
    WORKERS = (RUBY_ENGINE == "jruby" ? [] : %w[TTIN TTOU]).freeze

    # Signals that don't stop a server with handlers, but would end one that has no handlers yet, or is executing
    # itself. +files+: output goes to files, so HUP is one of them.
    def self.harmless(files:)
      RESTART + DUMP + WORKERS + (files ? %w[HUP] : [])
    end

    # An ignored HUP stays ignored (nohup), unless it opens output +files+ again. What Early has noted has come.
    def initialize(names, files: false)
      @reader, @writer = IO.pipe
      @owner = Process.pid
      @noted = Queue.new
      @came = {}
      @previous = names.to_h { |name| [name, trap(name) { heard(name) }] }
      trap("HUP", "IGNORE") if @previous["HUP"] == "IGNORE" && !files
      Early.hand_over(@previous).each { |name| add(name) }
    end

    # Names of the received signals, oldest first. Empty if +timeout+ (seconds, nil for ever) passed first, or if one of
    # +others+ (IOs) became readable.
    def wait(timeout = nil, *others)
      IO.select([@reader, *others], nil, nil, timeout)
      @reader.read_nonblock(64, exception: false)
      Array.new(@noted.length) { @noted.pop }
    end

    # Whether this signal has come, whether #wait has returned it or not.
    def came?(name)
      @came.key?(name)
    end

    # Whether a signal, or the command halt, has come that stops a server. +except+: signals that don't count. +files+:
    # HUP opens output files, and stops nothing.
    def stop?(*except, files:)
      ([*STOP, "HALT"] - except).any? { |name| came?(name) && !(files && name == "HUP") }
    end

    # Makes #wait return +name+ too, as if that signal had come. Any thread may call it, and a trap handler.
    def add(name)
      @came[name] = true
      @noted << name
      @writer.write_nonblock(".", exception: false)
    rescue IOError
      nil # released meanwhile
    end

    # Restores the previous handlers. But a signal that has come and stops a server is ignored from now on, so that the
    # same signal once more doesn't end the process while its at_exit blocks run. Only INT still does.
    def release
      ignored = @came.keys & (STOP - %w[INT])
      @previous.each { |name, handler| trap(name, ignored.include?(name) ? "IGNORE" : handler || "DEFAULT") }
      close
    end

    # For a process that exits: ignores the signals, so that they don't disturb the rest of its work.
    def mute
      @previous.each_key { |name| trap(name, "IGNORE") }
      close
    end

    # For a forked child, which makes its own Signals: closes its copies of the pipe.
    def close
      [@reader, @writer].each(&:close)
    end

    private

    # A child between its fork and its own handlers has no requests, and must not write to its parent's pipe.
    def heard(name)
      return add(name) if Process.pid == @owner

      exit!(0) if STOP.include?(name)
    end
  end
end
