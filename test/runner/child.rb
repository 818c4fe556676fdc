# frozen_string_literal: true

module Runner
  # What a forked process does: one test after the other, as it is told. It has a process group and a directory for
  # temporary files of its own, and writes to a file what would go to the terminal.
  class Child
    def initialize(socket, output, directory)
      @socket = socket
      @output = output
      @directory = directory
    end

    def run
      settle
      work
    rescue Interrupt, SystemCallError
      nil # the parent wants the end, or has ended
    ensure
      trap("INT", "IGNORE")
      after_run.reverse_each(&:call) # as minitest does in the process that it started in
    end

    private

    def settle
      Process.setpgrp
      ENV["TMPDIR"] = @directory
      $stdin.reopen(File::NULL)
      [$stdout, $stderr].each { |io| io.reopen(@output).sync = true }
      trap("TERM", "DEFAULT")
      trap("INT") { Thread.main.raise(Interrupt) }
      trap("USR2") { Thread.list.each { |thread| warn thread.inspect, *thread.backtrace, "" } }
    end

    def work
      result = nil
      nothing = after_run.size
      loop do
        @socket.write(Marshal.dump([result, after_run.size == nothing]))
        suite, name = Marshal.load(@socket)
        return unless name

        before = cpu
        result = Minitest.run_one_method(Minitest::Runnable.runnables[suite], name)
        result.metadata[:cpu] = cpu - before
      end
    rescue EOFError
      nil # the parent has ended
    end

    # Seconds of processor time, with that of processes that have ended.
    def cpu = Process.times.to_a.sum

    # What suites leave to be done in the end: they have servers, or files.
    def after_run = Minitest.class_variable_get(:@@after_run)
  end
end
