# frozen_string_literal: true

require "fileutils"
require "socket"
require "tempfile"
require "tmpdir"
require_relative "scratch"

module Runner
  # A process that runs tests, from its parent's point of view. It is forked from the process that has loaded all tests
  # (see Child). The two communicate through a socket: the child requests a test by sending the result of the previous
  # one (nil at first), and whether it may continue with another suite. It gets the test, or nil for the end.
  class Worker
    attr_reader :suite, :test

    # Where processes have their directories.
    FILES = Scratch.directory

    # +others+: the existing workers.
    def initialize(suite, others)
      @suite = suite
      @directory = Dir.mktmpdir("cuttle", FILES).tap { |path| File.chmod(0o755, path) } # PostgreSQL is another user
      @output = File.open("#{@directory}/output", "a+")
      @socket, work = UNIXSocket.pair
      @pid = fork do
        [self, *others].each { |worker| worker.to_io.close } # only the parent keeps them, so its end ends theirs
        Child.new(work, @output, @directory).run
        exit!(true) # the parent removes the files, so no object needs a finalizer
      end
      work.close
      @said = 0
      @since = Minitest.clock_time
      @at_work = true
      @counted = 0
    end

    # Whether it may continue: it has not been asked to end.
    def at_work? = @at_work

    def to_io = @socket

    # [result, whether its suite has no tests left]; raises EOFError if the process has ended.
    def report
      Marshal.load(@socket)
    rescue Errno::ECONNRESET
      raise EOFError
    end

    # Sends the next test; nil for none.
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

    # Seconds since its test began.
    def seconds = Minitest.clock_time - @since

    # The output of the test, and of servers that it started.
    def said
      @output.pread(@output.size - @said, @said).scrub
    rescue EOFError
      ""
    end

    def ended?
      @status ||= reap(Process::WNOHANG)
    end

    # Seconds of processor time, with all child processes, known when it has ended; and those of its tests.
    attr_reader :cpu, :counted

    # Adds those of a test.
    def count(seconds)
      @counted += seconds
    end

    # It ends its test and the servers of its suite.
    def interrupt = signal("INT", @pid)

    # It says where its threads are.
    def ask = signal("USR2", @pid)

    # Waits for its end, which is near, and kills what remains. Returns its Process::Status and the commands that it had
    # left running.
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

    # Commands of remaining processes, by pid: those of the process group, and those whose environment contains its
    # directory.
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
