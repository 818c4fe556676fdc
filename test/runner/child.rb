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

        before = costs
        result = Minitest.run_one_method(Minitest::Runnable.runnables[suite], name)
        result.metadata.update(costs.merge(before) { |_, late, early| late - early })
      end
    rescue EOFError
      nil # the parent has ended
    end

    # Seconds of processor time so far: of this process and its ended children, of processes that fork servers have
    # started for it, and those of the latter that it will have as its own when the fork server ends.
    def costs
      elsewhere, late = defined?(ForkServer) ? [ForkServer.seconds, ForkServer.seconds_of_own] : [0, 0]
      { cpu: Process.times.to_a.sum, elsewhere: elsewhere, late: late }
    end

    # Work that suites leave for the end, because they have servers or files.
    def after_run = Minitest.class_variable_get(:@@after_run)
  end
end
