# frozen_string_literal: true

module Cuttle
  module Telemetry
    # Writes lines to an IO and never waits for its reader. The thread that has a line writes it at once. While the
    # reader is slow, lines wait in memory, up to BOUND octets, and a thread of its own writes them; further lines are
    # dropped, and their number is written once there is room. Any thread, and any process after a fork, may write.
    #
    # A line of at most PIPE_BUF octets (4,096 on Linux) is one write(2), which a pipe takes whole, so that lines of
    # several processes never mix.
    class Output
      BOUND = 1 << 20

      # +io+ is neither changed nor closed, because other processes may share its file description, and an O_NONBLOCK
      # would affect them.
      def initialize(io)
        @io = separate(io)
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

      # A file description of our own, where the system gives one for that kind of file. A regular file never waits for
      # a reader: there it is the same descriptor, and follows a Redirection. (Ruby never closes the first three.)
      def separate(io)
        return io unless io.respond_to?(:fileno) && io.fileno
        return io.fileno <= 2 ? same(io) : io.dup if io.stat.file?
        return io.dup if RUBY_ENGINE == "jruby" # whose descriptors are its own

        File.open("/proc/self/fd/#{io.fileno}", File::WRONLY | File::APPEND | File::NONBLOCK | File::NOCTTY)
      rescue SystemCallError
        io.dup # such as a socket: its writer waits
      end

      # The descriptor of +io+, without its buffer.
      def same(io)
        RUBY_ENGINE == "jruby" ? io : IO.for_fd(io.fileno, "a", autoclose: false)
      end

      # Writes +text+ as far as it is taken. Returns what is left; nil if nothing is, or nobody reads any more.
      def pass_on(text)
        written = nonblock? ? @io.write_nonblock(text, exception: false) : @io.syswrite(text)
        return text if written == :wait_writable

        rest = text.byteslice(written..)
        rest unless rest.empty?
      rescue SystemCallError, IOError
        nil
      end

      def nonblock?
        @nonblock = @io.is_a?(File) && !@io.stat.file? if @nonblock.nil?
        @nonblock
      end

      def keep(text)
        if @octets + text.bytesize > BOUND
          @dropped += 1
        else
          @writer = Process.pid
          Thread.new { drain }.name = "cuttle log" if @waiting.empty?
          @waiting << text
          @octets += text.bytesize
        end
      rescue ThreadError # there can be no more threads
        @dropped += 1
      end

      # Writes the waiting lines, then ends.
      def drain
        Thread.current.name = "cuttle log"
        @io.wait_writable until @lock.synchronize { next_written? }
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
