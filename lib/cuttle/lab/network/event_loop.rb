# frozen_string_literal: true

module Cuttle
  module Lab
    module Network
      # Readiness and time for the lab's small network programs (relay, upstream): one thread, blocks that never wait.
      # Loads alone. Not for servers under test: select looks at every descriptor each time.
      class EventLoop
        Timer = Struct.new(:time, :block)

        def self.now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # As many descriptors as the system lets this process have.
        def self.raise_limit
          Process.setrlimit(:NOFILE, Process.getrlimit(:NOFILE).last)
        end

        def initialize
          @readers = {}.compare_by_identity
          @writers = {}.compare_by_identity
          @timers = [] # by time
        end

        # The block is called whenever +io+ can be read; without one, no more.
        def on_read(io, &block)
          block ? @readers[io] = block : @readers.delete(io)
        end

        # The same for writing.
        def on_write(io, &block)
          block ? @writers[io] = block : @writers.delete(io)
        end

        # Before +io+ is closed.
        def forget(io)
          @readers.delete(io)
          @writers.delete(io)
        end

        # The block is called once, at +time+ on #now's clock; those of one time in the order they came.
        def at(time, &block)
          place = @timers.bsearch_index { |timer| timer.time > time } || @timers.size
          @timers.insert(place, Timer.new(time, block))
        end

        def stop
          @stopped = true
        end

        # Until stopped.
        def run
          until @stopped
            readable, writable = IO.select(@readers.keys, @writers.keys, nil, patience)
            readable&.each { |io| @readers[io]&.call } # the one before may have ended this one
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
