# frozen_string_literal: true

module Cuttle
  module Lab
    module Network
      class Relay
        # One direction of a network connection. A packet waits for the packets before it, takes its size divided by the
        # bandwidth to send, and arrives after the delay. Times are seconds on one clock, sizes octets.
        class Line
          # Maximum octets in flight without a bandwidth limit.
          WIDE = 16 * 1024 * 1024
          # Minimum limit of octets in flight with a bandwidth: a router's buffer.
          BUFFER = 64 * 1024

          attr_reader :delay

          def initialize(delay, bandwidth)
            @delay = delay
            @bandwidth = bandwidth
            @free = 0.0
          end

          # Sends +size+ octets at +now+. Returns when the last of them arrives.
          def carry(size, now)
            @free = [@free, now].max
            @free += size.fdiv(@bandwidth) if @bandwidth
            @free + @delay
          end

          # Octets that may be in flight at once. With more, the sender waits.
          def capacity
            @bandwidth ? [(@bandwidth * @delay).ceil, BUFFER].max : WIDE
          end

          # Octets per read: 20 ms' worth, but at least a packet.
          def portion
            @bandwidth ? (@bandwidth / 50).clamp(1460, BUFFER) : BUFFER
          end
        end

        # Copies octets from one socket to another over a line. The queue holds the octets in flight, as [arrival,
        # octets]. The last entry is :end (the source has finished) or :reset (the source is gone).
        #
        #   open -> ended: the source has finished, and its end is in flight -> done: the end was delivered
        #   any  -> broken: the sink accepts no more. Nothing is read or delivered until the opposite flow sees the end
        #           of its source, which is this flow's sink, and resets both
        class Flow
          GONE = [Errno::ECONNRESET, Errno::EPIPE, Errno::ETIMEDOUT, Errno::EHOSTUNREACH, Errno::ENOTCONN].freeze

          # Linux's TCP_CLOSE, the first octet of TCP_INFO.
          CLOSED = 7

          # Calls the block with :ended; with :done or :reset when the sink has received that; or with :broken.
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

          # Called when the opposite flow's sink, which is this flow's source, accepts no more. The source then ends
          # with a reset.
          def expect_reset
            @expect_reset = true
            put(:reset, 0) if @ended
          end

          # Whether the source has finished.
          def ended?
            @ended
          end

          # Whether the end was delivered to the sink.
          def done?
            @done
          end

          # Whether the source is gone. A source that has finished is not read any more, so a later reset must be looked
          # up. The result is valid only while this side is open, because otherwise the socket is closed too.
          def source_gone?
            !@source.closed? && @source.getsockopt(:TCP, :INFO).data.unpack1("C") == CLOSED
          end

          # Passes on the reset of the source.
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

          # Delivers everything that has arrived.
          def deliver
            until @queue.empty? || @sink.closed?
              arrival, item = @queue.first
              return @events.at(arrival) { deliver } if arrival > EventLoop.now
              return unless item.is_a?(String) ? write(item) : signal(item)
            end
          end

          # Returns false if the sink accepts no more for now.
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
