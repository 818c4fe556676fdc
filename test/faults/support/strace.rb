# frozen_string_literal: true

require "tmpdir"

# strace(1), which makes the system calls of a running process fail as requested.
module Strace
  extend Eventually

  class << self
    # Why it can't be used here; nil where it can.
    def lack
      @lack ||= [find_lack]
      @lack.first
    end

    # Makes +calls+ of a process and all its threads fail as +faults+ say (strace's words: error=EMFILE:when=1..3, or
    # several with their calls) while the block runs. Returns how many did.
    def inject(pid, calls, faults)
      Dir.mktmpdir("cuttle") do |directory|
        expressions = Array(faults).map { |fault| fault.include?(":error") ? fault : "#{calls}:#{fault}" }
        tracer = attach(pid, calls, expressions, directory)
        yield
        detach(tracer)
        tracer = nil
        File.read("#{directory}/calls").scan("(INJECTED)").size
      ensure
        detach(tracer) if tracer
      end
    end

    private

    def attach(pid, calls, expressions, directory)
      options = expressions.flat_map { |expression| ["-e", "inject=#{expression}"] }
      tracer = spawn("strace", "-f", "-e", "trace=#{calls}", *options, "-o", "#{directory}/calls", "-p", pid.to_s,
                     err: "#{directory}/err", in: File::NULL)
      eventually("strace at work") do
        File.read("#{directory}/err").include?("attached") || Process.wait(tracer, Process::WNOHANG)
      end
      tracer
    end

    def detach(tracer)
      Process.kill("INT", tracer)
      Process.wait(tracer)
    end

    def find_lack
      return "no strace here" unless system("strace", "--version", out: File::NULL, err: File::NULL)

      sleeper = spawn("sleep", "60")
      inject(sleeper, "accept4", "error=EMFILE") { nil }
      nil
    rescue SystemCallError, RuntimeError
      "strace may not trace processes here"
    ensure
      sleeper && Process.kill("KILL", sleeper) && Process.wait(sleeper)
    end
  end
end
