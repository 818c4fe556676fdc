# frozen_string_literal: true

require "socket"

# Starts scripts of Ruby in processes that are forked from one which has loaded the server's code: to load it takes most
# of the processor time of a server's start. A test sees no difference, but in the parent, the command line, and what a
# program that is executed in place inherits. A test of what is loaded when starts its processes otherwise.
#
#   Origin: loads the code --forks--> fork server: one for each process that runs tests --forks--> scripts
class ForkServer
  PROGRAM = File.expand_path("fork_server/program.rb", __dir__)

  # For `cuttle serve`: what the fork server has loaded is old already, and makes up most of a server's memory.
  FLAGS = %w[--no-warmup].freeze

  # How a process ended. Only its parent has a Process::Status.
  Status = Struct.new(:exitstatus, :termsig) do
    def success? = exitstatus&.zero?
  end

  # The process that loads the code of a core, and forks fork servers.
  class Origin
    # +ruby+: the command that runs a script, as an Array. +env+: what Ruby itself reads as it starts.
    def initialize(ruby, env, core = "native")
      @socket, theirs = UNIXSocket.pair
      @pid = spawn(env, *ruby, PROGRAM, core, in: theirs, pgroup: true)
      theirs.close
    end

    # The socket of a new fork server. Processes that were forked from this one may call it at the same time.
    def connect
      ours, theirs = UNIXSocket.pair
      @socket.send_io(theirs)
      ours
    ensure
      theirs.close
    end

    # Ends it once the fork servers have ended.
    def stop
      @socket.shutdown # forked processes have the socket too
      @socket.close
      Process.wait(@pid)
    end
  end

  @shared = {}
  @origins = {}
  @own = []
  @lock = Mutex.new

  class << self
    # Starts the Origin of most fork servers, for all processes that will be forked from this one.
    def share
      origin({}, "native") unless Serving::ServingProcess::JVM
    end

    # Ends it.
    def unshare
      @origins.each_value(&:stop).clear
    end

    # One for all tests in this process that ask for the same +env+ and core. nil where Ruby can't fork.
    def shared(env = {}, core = "native")
      return if Serving::ServingProcess::JVM

      @lock.synchronize do
        @shared[[env, core]] ||= new(own_origin(env, core)).tap { |server| Minitest.after_run { server.stop } }
      end
    end

    # Seconds of processor time of the processes that the shared ones have started and that have ended.
    def seconds = @shared.each_value.sum(&:seconds)

    # Those of them that count again at the end of this process, because their Origin is its child.
    def seconds_of_own = @shared.sum { |kind, server| @own.include?(kind) ? server.seconds : 0 }

    private

    def origin(env, core)
      @origins[[env, core]] ||= Origin.new(Serving::ServingProcess.ruby, env, core)
    end

    # The one that this process shares with others, or one that ends with this process.
    def own_origin(env, core)
      @origins[[env, core]] || origin(env, core).tap do |own|
        @own << [env, core]
        Minitest.after_run { own.stop }
      end
    end
  end

  attr_reader :seconds

  def initialize(origin)
    @lock = Mutex.new
    @seconds = 0.0
    @socket = origin.connect
    Marshal.dump(Process.getpgrp, @socket)
  end

  # Runs a script with its arguments, +command+. Returns the pid. +env+: all of its environment; +out+ and +err+: files.
  def start(command, env:, chdir:, out:, err:)
    [out, err].each { |file| File.write(file, "") } # as with spawn, they are there from the beginning
    ask({ command: command, env: env, chdir: chdir, out: out, err: err })
  end

  # The Status of a process that has ended; nil if it runs.
  def status(pid)
    ended, @seconds = ask(pid)
    ended && Status.new(*ended)
  end

  # Ends the process. What it has started goes on.
  def stop
    Marshal.dump(nil, @socket)
    @socket.read # until it has ended
    @socket.close
  end

  private

  # Threads of one test may start servers at once.
  def ask(request)
    @lock.synchronize do
      Marshal.dump(request, @socket)
      Marshal.load(@socket)
    end
  end
end
