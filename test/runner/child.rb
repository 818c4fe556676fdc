# frozen_string_literal: true

module Runner
  # A forked process that runs one test after the other on request. It has its own process group and its own directory
  # for temporary files, and writes to a file what would go to the terminal.
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

        before = [cpu, elsewhere]
        result = Minitest.run_one_method(Minitest::Runnable.runnables[suite], name)
        result.metadata.update(cpu: cpu - before[0], elsewhere: elsewhere - before[1])
      end
    rescue EOFError
      nil # the parent has ended
    end

    # Seconds of processor time, including ended child processes.
    def cpu = Process.times.to_a.sum

    # The same of processes that a fork server has started for this one.
    def elsewhere = defined?(ForkServer) ? ForkServer.seconds : 0

    # Work that suites leave for the end, because they have servers or files.
    def after_run = Minitest.class_variable_get(:@@after_run)
  end
end
