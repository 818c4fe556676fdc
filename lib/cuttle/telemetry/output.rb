# frozen_string_literal: true

module Cuttle
  module Telemetry
    # Writes lines to an IO and never waits for its reader. The thread that has a line writes it at once. While the
    # reader is slow, lines wait in memory, up to BOUND octets, and a thread of its own (Writer) writes them; further
    # lines are dropped, and their number is written once there is room. Any thread, and any process after a fork, may
    # write.
    #
    # A line of at most PIPE_BUF octets (4,096 on Linux) is one write(2), which a pipe takes whole, so that lines of
    # several processes never mix.
    class Output
      BOUND = 1 << 20

      # Seconds that #flush waits for a reader.
      PATIENCE = 1

      # The thread that writes the lines that wait. It ends when there are none.
      class Writer < Thread
      end

      # Waits, for +seconds+ at most, until the lines are written that wait in this process (in a ractor: in that
      # ractor). Call it before the process ends.
      def self.flush(seconds = PATIENCE)
        deadline = Cuttle.now + seconds
        Thread.list.grep(Writer).each { |writer| writer.join([deadline - Cuttle.now, 0].max) }
      end

      # +io+ is neither changed nor closed (Outlet).
      def initialize(io)
        @outlet = Outlet.of(io)
        @lock = Mutex.new
        reset
      end

      # Takes +line+, which ends with a newline. Never raises: a log without a reader stops no request.
      def write(line)
        @lock.synchronize do
          reset unless @waiting.empty? || @writer == Process.pid # what waits in a parent is the parent's
          next keep(line) unless @waiting.empty?

          rest = pass_on(line)
          keep(rest) if rest
        end
        nil
      end

      # Lines that were dropped since the last report of them.
      def dropped
        @lock.synchronize { @dropped }
      end

      private

      def reset
        @waiting = []
        @octets = @dropped = 0
      end

      # Writes +text+ as far as it is taken. Returns what is left; nil if nothing is, or nobody reads any more.
      def pass_on(text)
        written = @outlet.write(text)
        return if written == text.bytesize

        written == :wait_writable ? text : text.byteslice(written..)
      rescue SystemCallError, IOError
        nil
      end

      def keep(text)
        if @octets + text.bytesize > BOUND
          @dropped += 1
        else
          @writer = Process.pid
          Writer.new { drain }.name = "cuttle log" if @waiting.empty?
          @waiting << text
          @octets += text.bytesize
        end
      rescue ThreadError # there can be no more threads
        @dropped += 1
      end

      # Writes the waiting lines, then ends.
      def drain
        Thread.current.name = "cuttle log"
        @outlet.wait until @lock.synchronize { next_written? }
      rescue IOError, SystemCallError
        @lock.synchronize { reset }
      end

      # Writes as much as the reader takes at once. Returns whether nothing is left.
      def next_written?
        while (text = @waiting.first)
          rest = pass_on(text)
          @octets -= text.bytesize - rest.to_s.bytesize
          return false if rest && (@waiting[0] = rest)

          @waiting.shift
        end
        report_dropped
      end

      def report_dropped
        return true if @dropped.zero?

        @waiting << "cuttle: #{@dropped} lines were dropped, for the reader of this log is too slow\n"
        @octets += @waiting.first.bytesize
        @dropped = 0
        false
      end
    end
  end
end
