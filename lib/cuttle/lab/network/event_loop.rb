# frozen_string_literal: true

module Cuttle
  module Lab
    module Network
      # Readiness and timers for the lab's small network programs (the relay and the upstream service). It has one
      # thread, so blocks that it calls must never wait. It loads alone. It is too slow for servers under test: each
      # select examines every descriptor.
      class EventLoop
        Timer = Struct.new(:time, :block)

        def self.now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # Raises the limit of open descriptors to the system's maximum.
        def self.raise_limit
          Process.setrlimit(:NOFILE, Process.getrlimit(:NOFILE).last)
        end

        def initialize
          @readers = {}.compare_by_identity
          @writers = {}.compare_by_identity
          @timers = [] # ordered by time
        end

        # Calls the block whenever +io+ is readable. Without a block, stops that.
        def on_read(io, &block)
          block ? @readers[io] = block : @readers.delete(io)
        end

        # The same for writable.
        def on_write(io, &block)
          block ? @writers[io] = block : @writers.delete(io)
        end

        # Forgets +io+. Call it before +io+ is closed.
        def forget(io)
          @readers.delete(io)
          @writers.delete(io)
        end

        # Calls the block once, at +time+ on the clock of .now. Blocks with the same time run in the order of the calls.
        def at(time, &block)
          place = @timers.bsearch_index { |timer| timer.time > time } || @timers.size
          @timers.insert(place, Timer.new(time, block))
        end

        def stop
          @stopped = true
        end

        # Runs until #stop.
        def run
          until @stopped
            readable, writable = IO.select(@readers.keys, @writers.keys, nil, patience)
            readable&.each { |io| @readers[io]&.call } # an earlier block may have closed this io
            writable&.each { |io| @writers[io]&.call }
            expire
          end
        end

        private

        def patience
          @timers.first && [@timers.first.time - self.class.now, 0].max
        end

        def expire
          now = self.class.now
          @timers.shift.block.call while @timers.first && @timers.first.time <= now
        end
      end
    end
  end
end
