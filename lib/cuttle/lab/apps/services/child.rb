# frozen_string_literal: true

require "io/wait"
require "rbconfig"
require "tempfile"

module Cuttle
  module Lab
    module Apps
      module Services
        # One of the lab's programs in its own process. The program is a file that needs only its language's standard
        # library. It prints "ready" and further words as its first line, and exits at the end of its standard input.
        # Only this process holds the other end of that pipe, so no program outlives the lab.
        class Child
          START = 60 # seconds for the program to become ready
          STOP = 20 # seconds for the program to end; then it is killed
          RUBY = [RbConfig.ruby, "--disable=gems"].freeze

          attr_reader :pid

          # The words after "ready".
          attr_reader :words

          # +cores+: the cores that it may use, nil for all. +by+: the command that runs the file. Raises Lab::Failure
          # with the last line of its output.
          def self.start(file, *arguments, cores: nil, by: RUBY)
            new([*by, file, *arguments.map(&:to_s)], File.basename(file, ".*").delete_suffix("_program"), cores)
              .tap(&:wait_until_ready)
          end

          def initialize(command, name, cores)
            @name = name
            @log = Tempfile.new("cuttle-#{@name}")
            command = Machine::Cores.pinned(cores, command)
            @pid, @input, @output = spawn_with_pipes(command)
            @log.unlink # the file disappears with this process
          end

          def wait_until_ready
            line = @output.gets if @output.wait_readable(START)
            @words = line.to_s.split
            return if @words.shift == "ready"

            reason = last_words
            stop
            raise Failure, "#{@name}: #{reason}"
          end

          def running?
            @status.nil? && Process.wait2(@pid, Process::WNOHANG).tap { |_, status| @status = status }.nil?
          end

          # Stops the process and returns when it has ended.
          def stop
            @input.close
            finish(STOP)
            return unless running?

            Process.kill("KILL", @pid)
            finish(STOP)
          ensure
            @output.close
            @log.close!
          end

          # The last line of its standard error.
          def last_words
            said = @log.size.zero? ? "" : @log.pread(@log.size, 0)
            said.lines.map(&:strip).reject(&:empty?).last || "it did not start within #{START} s"
          end

          private

          # Puts it in its own process group, so that a Ctrl-C at the terminal reaches only the lab, which then stops it
          # in order.
          def spawn_with_pipes(command)
            reader, input = IO.pipe
            output, writer = IO.pipe
            pid = Process.spawn({ "RUBYOPT" => nil, "RUBYLIB" => nil }, *command,
                                in: reader, out: writer, err: @log.to_io, pgroup: true)
            [pid, input, output]
          ensure
            reader&.close
            writer&.close
          end

          def finish(seconds)
            deadline = Cuttle.now + seconds
            sleep 0.005 while running? && Cuttle.now < deadline
          end
        end
      end
    end
  end
end
