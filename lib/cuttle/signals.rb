# frozen_string_literal: true

module Cuttle
  # Signals as things to wait for. A handler only writes the signal's number to a pipe; whoever calls #wait reads it,
  # outside the handler, where everything is allowed. What was trapped before comes back with #release.
  class Signals
    # The ones that end a server, all alike: finish what is under way. (HUP is a terminal that went away.)
    STOP = %w[INT TERM QUIT HUP].freeze

    def initialize(names)
      @reader, @writer = IO.pipe
      @owner = Process.pid
      @previous = names.to_h { |name| [name, trap(name) { heard(name) }] }
      trap("HUP", "IGNORE") if @previous["HUP"] == "IGNORE" # nohup
    end

    # Names of the signals that came, oldest first; empty where +timeout+ (seconds, nil for ever) passed before, or
    # one of +others+ (IOs) became readable.
    def wait(timeout = nil, *others)
      IO.select([@reader, *others], nil, nil, timeout)
      numbers = @reader.read_nonblock(64, exception: false)
      numbers == :wait_readable ? [] : numbers.bytes.map { |number| Signal.signame(number) }
    end

    # Puts the handlers back that were there before.
    def release
      @previous.each { |name, handler| trap(name, handler || "DEFAULT") }
      close
    end

    # For a process at its end: none of them shall disturb what is left to do.
    def mute
      @previous.each_key { |name| trap(name, "IGNORE") }
      close
    end

    # For a child after the fork, which makes its own: closes its copies of the pipe.
    def close
      [@reader, @writer].each(&:close)
    end

    private

    # A child between its fork and its own handlers has nothing under way, and must not write to its parent's pipe.
    def heard(name)
      return @writer.write_nonblock(Signal.list.fetch(name).chr, exception: false) if Process.pid == @owner

      exit!(0) if STOP.include?(name)
    end
  end
end
