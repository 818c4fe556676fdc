# frozen_string_literal: true

require "fileutils"
require "socket"
require "tempfile"
require "tmpdir"

module Runner
  # A process that runs tests, as its parent sees it. It is forked from the process that has loaded all tests (see
  # Child). The two talk by a socket: the child asks for a test by sending the result of the one before (nil at first),
  # and whether it may go on with another suite; it gets the test, or nil for the end.
  class Worker
    attr_reader :suite, :test

    # +others+ are those that there are already.
    def initialize(suite, others)
      @suite = suite
      @directory = Dir.mktmpdir("cuttle").tap { |path| File.chmod(0o755, path) } # PostgreSQL runs as another user
      @output = File.open("#{@directory}/output", "a+")
      @socket, work = UNIXSocket.pair
      @pid = fork do
        [self, *others].each { |worker| worker.to_io.close } # only their parent has these, so that its end is their end
        Child.new(work, @output, @directory).run
      end
      work.close
      @said = 0
      @since = Minitest.clock_time
      @at_work = true
      @counted = 0
    end

    # Whether it was not told to end.
    def at_work? = @at_work

    def to_io = @socket

    # [result, whether nothing is left of the suite]; raises EOFError where it has ended instead.
    def report
      Marshal.load(@socket)
    rescue Errno::ECONNRESET
      raise EOFError
    end

    # Says which test is next; nil for none.
    def next(suite, name)
      @suite = suite
      @test = name
      @at_work = !name.nil?
      @since = Minitest.clock_time
      @said = @output.size
      @socket.write(Marshal.dump([Minitest::Runnable.runnables.index(suite), name]))
    rescue Errno::EPIPE
      nil # it has died: the next read says so
    end

    # Seconds that it has been at its test.
    def seconds = Minitest.clock_time - @since

    # What the test, and servers that it started, have written.
    def said
      @output.pread(@output.size - @said, @said).scrub
    rescue EOFError
      ""
    end

    def ended?
      @status ||= reap(Process::WNOHANG)
    end

    # Seconds of processor time that it took, with all that it waited for, known at its end; those of its tests.
    attr_reader :cpu, :counted

    # Adds those of a test.
    def count(seconds)
      @counted += seconds
    end

    # It ends its test and the servers of its suite.
    def interrupt = signal("INT", @pid)

    # It says where its threads are.
    def ask = signal("USR2", @pid)

    # Waits for its end, which is near, and kills what stays. Returns its Process::Status and the
    # commands that it had left running.
    def finish(grace: 5)
      deadline = Minitest.clock_time + grace
      sleep 0.01 until ended? || Minitest.clock_time > deadline
      left = left_behind
      left.each_key { |pid| signal("KILL", pid) }
      @status ||= reap
      [@socket, @output].each(&:close)
      FileUtils.rm_rf(@directory)
      [@status, left.except(@pid).values]
    end

    private

    def reap(flags = 0)
      before = Process.times
      _, status = Process.wait2(@pid, flags)
      after = Process.times
      @cpu = after.cutime + after.cstime - before.cutime - before.cstime
      status
    end

    def signal(name, pid)
      Process.kill(name, pid)
    rescue Errno::ESRCH
      nil
    end

    # Commands of processes that are there still, by pid: those of the process group, and those in whose environment its
    # directory is.
    def left_behind
      mark = "TMPDIR=#{@directory}\0"
      Dir.children("/proc").grep(/\A\d+\z/).map(&:to_i).to_h do |pid|
        ours = Process.getpgid(pid) == @pid || File.binread("/proc/#{pid}/environ").include?(mark)
        [pid, ours && File.read("/proc/#{pid}/cmdline").tr("\0", " ").strip]
      rescue SystemCallError
        [pid, nil] # it has just ended, or is another user's
      end.reject { |_, command| !command || command.empty? } # that of a zombie is empty
    end
  end
end
