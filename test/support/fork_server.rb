# frozen_string_literal: true

# Starts scripts of Ruby in processes that are forked from one which has loaded the server's code: to load it takes most
# of the processor time of a server's start. A test sees no difference, but in the parent, the command line, and what a
# program that is executed in place inherits. A test of what is loaded when starts its processes otherwise.
class ForkServer
  PROGRAM = File.expand_path("fork_server/program.rb", __dir__)

  # How a process ended. Only its parent has a Process::Status.
  Status = Struct.new(:exitstatus, :termsig) do
    def success? = exitstatus&.zero?
  end

  @shared = {}
  @lock = Mutex.new

  # One for all tests in this process that ask for the same +env+. nil where Ruby can't fork.
  def self.shared(env = {})
    return if Serving::ServingProcess::JVM

    @lock.synchronize do
      @shared[env] ||= new(Serving::ServingProcess.ruby, env, "hybrid", "native")
                       .tap { |server| Minitest.after_run { server.stop } }
    end
  end

  # +ruby+: the command that runs a script, as an Array. +env+: what Ruby itself reads as it starts. +preload+: the
  # names of an engine and of a core, whose code is loaded.
  def initialize(ruby, env, *preload)
    @lock = Mutex.new
    @program = IO.popen([env, *ruby, PROGRAM, *preload], "r+b")
  end

  # Runs a script with its arguments, +command+. Returns the pid. +env+: all of its environment; +out+ and +err+: files.
  def start(command, env:, chdir:, out:, err:)
    [out, err].each { |file| File.write(file, "") } # as with spawn, they are there from the beginning
    ask({ command: command, env: env, chdir: chdir, out: out, err: err })
  end

  # The Status of a process that has ended; nil if it runs.
  def status(pid)
    ask(pid)&.then { |ended| Status.new(*ended) }
  end

  # Ends the process. What it has started goes on.
  def stop
    Marshal.dump(nil, @program)
    @program.close
  end

  private

  # Threads of one test may start servers at once.
  def ask(request)
    @lock.synchronize do
      Marshal.dump(request, @program)
      @program.flush
      Marshal.load(@program)
    end
  end
end
