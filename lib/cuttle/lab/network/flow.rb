# frozen_string_literal: true

module Cuttle
  module Lab
    module Network
      class Relay
        # One direction of a network: what is sent waits until what was sent before it is on its way, takes its size by
        # the bandwidth to be so itself, and arrives a delay later. Times are seconds on one clock, sizes octets.
        class Line
          # What may be on a line where no bandwidth says how much fits.
          WIDE = 16 * 1024 * 1024
          # And where one does, at least: what stands in a router's buffer.
          BUFFER = 64 * 1024

          attr_reader :delay

          def initialize(delay, bandwidth)
            @delay = delay
            @bandwidth = bandwidth
            @free = 0.0
          end

          # Takes +size+ octets at +now+; returns when the last of them arrives.
          def carry(size, now)
            @free = [@free, now].max
            @free += size.fdiv(@bandwidth) if @bandwidth
            @free + @delay
          end

          # How much may be under way at once; then a sender has to wait.
          def capacity
            @bandwidth ? [(@bandwidth * @delay).ceil, BUFFER].max : WIDE
          end

          # How much is taken at once: what arrives together, 20 ms' worth and never less than a packet.
          def portion
            @bandwidth ? (@bandwidth / 50).clamp(1460, BUFFER) : BUFFER
          end
        end

        # Octets from one socket to another, over a line. What is under way is a queue of [arrival, octets]; after the
        # last octets stands :end (the source said that it sends no more) or :reset (it is gone).
        #
        #   open -> ended: nothing more comes from the source, and what says so is under way -> done: it was delivered
        #   any  -> broken: the sink takes no more; nothing is read or delivered, until the flow the other way has seen
        #           its source, which is our sink, end, and resets us
        class Flow
          GONE = [Errno::ECONNRESET, Errno::EPIPE, Errno::ETIMEDOUT, Errno::EHOSTUNREACH, Errno::ENOTCONN].freeze

          # Linux's TCP_CLOSE, as the first octet of TCP_INFO.
          CLOSED = 7

          # The block is called with :ended, with :done or :reset once what that says has been delivered to the sink, or
          # with :broken.
          def initialize(events, source, sink, line, &report)
            @events = events
            @source = source
            @sink = sink
            @line = line
            @report = report
            @queue = []
            @under_way = 0
            @expect_reset = false
            read_on
          end

          # The sink of the other direction, which is our source, took no more: our source's end will not be an orderly
          # one.
          def expect_reset
            @expect_reset = true
            put(:reset, 0) if @ended
          end

          # Nothing more comes from the source.
          def ended?
            @ended
          end

          # The sink was told so.
          def done?
            @done
          end

          # A source that has said its end is not read any more, so that it was reset since has to be looked for. Only
          # true where we have not ended our side of it, for then it is closed too.
          def source_gone?
            !@source.closed? && @source.getsockopt(:TCP, :INFO).unpack("C").first == CLOSED
          end

          # Its reset goes on its way.
          def lose_source
            put(:reset, 0) unless @lost
            @lost = true
          end

          private

          def read_on
            @events.on_read(@source) { read } unless @ended || @broken
          end

          def read
            octets = @source.read_nonblock(@line.portion, exception: false)
            return if octets == :wait_readable
            return finish(@expect_reset ? :reset : :end) if octets.nil?

            put(octets, octets.bytesize)
          rescue *GONE
            finish(:reset)
          end

          def finish(how)
            @ended = true
            @events.on_read(@source)
            @report.call(:ended) if how == :end
            put(how, 0)
          end

          def put(item, size)
            now = EventLoop.now
            @queue << [@line.carry(size, now), item]
            @under_way += size
            @events.on_read(@source) if @under_way >= @line.capacity
            deliver if @queue.size == 1
          end

          # Everything that has arrived.
          def deliver
            until @queue.empty? || @sink.closed?
              arrival, item = @queue.first
              return @events.at(arrival) { deliver } if arrival > EventLoop.now
              return unless item.is_a?(String) ? write(item) : signal(item)
            end
          end

          # False where the sink takes no more for now.
          def write(octets)
            sent = @sink.write_nonblock(octets, exception: false)
            return wait_for_sink if sent == :wait_writable

            @under_way -= sent
            read_on if @under_way < @line.capacity
            return @queue.shift if sent == octets.bytesize

            @queue.first[1] = octets.byteslice(sent..)
            wait_for_sink
          rescue *GONE
            break_off
          end

          def wait_for_sink
            @events.on_write(@sink) do
              @events.on_write(@sink)
              deliver
            end
            false
          end

          def signal(how)
            @queue.clear
            @sink.shutdown(Socket::SHUT_WR) if how == :end
            @done = true
            @report.call(how == :end ? :done : :reset)
            false
          rescue *GONE
            break_off
          end

          def break_off
            @broken = true
            @queue.clear
            @events.on_read(@source)
            @report.call(:broken)
            false
          end
        end
      end
    end
  end
end
