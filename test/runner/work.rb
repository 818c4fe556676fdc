# frozen_string_literal: true

module Runner
  # What a forked process does: tests of one suite, until there are no more. It has a process group and a directory for
  # temporary files of its own, and writes to a file what would go to the terminal.
  class Work
    def initialize(suite, socket, output, directory)
      @suite = suite
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
      # As minitest does in the process that it started in.
      Minitest.class_variable_get(:@@after_run).reverse_each(&:call)
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
      loop do
        @socket.write(Marshal.dump(result))
        name = Marshal.load(@socket) or return
        result = Minitest.run_one_method(@suite, name)
      end
    rescue EOFError
      nil # the parent has ended
    end
  end
end
