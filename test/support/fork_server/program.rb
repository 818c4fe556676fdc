# frozen_string_literal: true

# The process of a ForkServer::Origin. ARGV: the name of a core. Standard input is a socket that brings sockets, and a
# fork server is forked for each of them. Such a socket brings what is asked, marshalled: first the number of a process
# group, which the fork server joins, then a Hash for each script to start, or a pid, to learn how that process has
# ended. nil ends the fork server.
require "cuttle"
require "rack"
require "rbconfig"
%w[digest/sha2 fileutils socket timeout].each { |library| require library } # of the tests' apps
require_relative "../../contracts/engine/engine_app" # most servers have this one

module ForkProgram
  @origin = UNIXSocket.for_fd($stdin.dup.tap { |io| io.autoclose = false }.fileno)
  $stdin.reopen(File::NULL)

  class << self
    # What a server has loaded when it serves, with any engine.
    def preload(core)
      engines = Cuttle::Engines.names.reject { |name| Cuttle::Engines.traits(name).ractors? }
      engines.each do |engine|
        settings = Cuttle::Settings.build(variables: {}, engine: engine, core: core)
        Cuttle::Server.new(->(_env) {}, settings: settings).preload
      end
      Cuttle::Worker.preload
      Cuttle::CLI.command("serve")
      [Cuttle::Worker, Cuttle::Listeners, Cuttle::Cluster].each { |room| load_all(room) }
      [Cuttle::Configuration, Cuttle::Control::Commands, Cuttle::DatabasePools, Cuttle::Hooks, Cuttle::Launcher,
       Cuttle::Memory, Cuttle::PidFile, Cuttle::Rack::GemChecks, Cuttle::Rack::Loader, Cuttle::Redirection,
       Cuttle::Restart, Cuttle::RubyFile, Cuttle::Settings::Help, Cuttle::Settings::LIKES, Cuttle::Warmup,
       Rack::Builder].each(&:to_s) # to name them loads them
      3.times { GC.start } # what has survived three is old, and left alone from then on
    end

    # In each process that a fork server forks: what it is to run. In the others: nil, at the end. No thread waits for
    # the fork servers: a process with threads may fork while one of them has a lock of AddressSanitizer.
    def next_job
      servers = []
      while (socket = next_socket)
        pid = fork or return serve(socket)
        socket.close
        servers << pid
      end
      await(servers)
      nil
    end

    # The last at_exit block of each process ends its threads as Ruby would, but frees nothing. Ruby would write to most
    # pages of memory, which processes share until then. That takes longer than anything else at the end of a server.
    # Files that a script leaves open must have nothing to write. Ruby deals with other exceptions itself.
    def finish(error)
      return unless error.nil? || error.is_a?(SystemExit)

      %w[INT TERM QUIT HUP].each { |name| trap(name, "IGNORE") } # Ruby, too, no longer heeds them
      (Thread.list - [Thread.current]).each(&:kill).each { |thread| ended(thread) }
      [$stdout, $stderr].each { |io| flush(io) }
      exit!(error ? error.status : 0)
    end

    # Makes this process what it would be if it had been started with this script. Returns the script.
    def become(job)
      ENV.replace(job.fetch(:env))
      Dir.chdir(job.fetch(:chdir))
      redirect(job.fetch(:out), job.fetch(:err))
      script, *arguments = job.fetch(:command)
      ARGV.replace(arguments)
      $PROGRAM_NAME = script
      Process.setproctitle([RbConfig.ruby, script, *arguments].join(" "))
      script
    end

    private

    def ended(thread)
      thread.join
    rescue Exception # rubocop:disable Lint/RescueException -- the thread's own, which Ruby has reported
      nil
    end

    def flush(io)
      io.flush
    rescue IOError, SystemCallError
      nil # its reader has closed, or a disk is full
    end

    def load_all(room) = room.constants.each { |name| room.const_get(name) }

    # Gives them a second, so that their processor time counts.
    def await(pids)
      100.times do
        pids.reject! { |pid| Process.wait(pid, Process::WNOHANG) }
        break if pids.empty?

        sleep 0.01
      end
    end

    # nil when all processes that might ask have ended.
    def next_socket
      @origin.recv_io(UNIXSocket)
    rescue SocketError
      nil # nothing was passed
    end

    # The fork server.
    def serve(socket)
      @origin.close
      @socket = socket
      Process.setpgid(0, Marshal.load(@socket))
      while (asked = Marshal.load(@socket))
        if asked.is_a?(Integer)
          answer(ending(asked))
        else
          pid = fork or return asked
          answer(pid)
        end
      end
    rescue EOFError
      nil # the process that asks has ended
    end

    def answer(value) = Marshal.dump(value, @socket)

    # How that process has ended, or nil, and the processor time of all that have.
    def ending(pid)
      _, status = Process.wait2(pid, Process::WNOHANG)
      times = Process.times
      [status && [status.exitstatus, status.termsig], times.cutime + times.cstime]
    end

    def redirect(out, err)
      @socket.close
      File.open(out, "w") { |file| $stdout.reopen(file) }
      File.open(err, "w") { |file| $stderr.reopen(file) }
      $stderr.sync = true
    end
  end
end

at_exit { ForkProgram.finish($!) } unless ENV["CUTTLE_SANITIZE"] # sanitizers examine what Ruby does at its end
ForkProgram.preload(*ARGV)
job = ForkProgram.next_job
load(ForkProgram.become(job)) if job
