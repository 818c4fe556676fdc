# frozen_string_literal: true

module Cuttle
  # Signals that can be waited for. A handler only writes the signal's number to a pipe. The caller of #wait reads it
  # outside the handler, where everything is allowed. #release restores the previous handlers.
  class Signals
    # The signals that stop a server, all in the same way: it finishes the requests under way. (HUP: the terminal went
    # away. The JVM keeps QUIT to itself.)
    STOP = (%w[INT TERM QUIT HUP] - (RUBY_ENGINE == "jruby" ? %w[QUIT] : [])).freeze

    def initialize(names)
      @reader, @writer = IO.pipe
      @owner = Process.pid
      @previous = names.to_h { |name| [name, trap(name) { heard(name) }] }
      trap("HUP", "IGNORE") if @previous["HUP"] == "IGNORE" # nohup
    end

    # Names of the received signals, oldest first. Empty if +timeout+ (seconds, nil for ever) passed first, or if one of
    # +others+ (IOs) became readable.
    def wait(timeout = nil, *others)
      IO.select([@reader, *others], nil, nil, timeout)
      numbers = @reader.read_nonblock(64, exception: false)
      numbers == :wait_readable ? [] : numbers.bytes.map { |number| Signal.signame(number) }
    end

    # Restores the previous handlers.
    def release
      @previous.each { |name, handler| trap(name, handler || "DEFAULT") }
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
      return @writer.write_nonblock(Signal.list.fetch(name).chr, exception: false) if Process.pid == @owner

      exit!(0) if STOP.include?(name)
    end
  end
end
