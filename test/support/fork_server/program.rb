# frozen_string_literal: true

# The process of a ForkServer. ARGV: the names of an engine and of a core. Standard input brings what is asked,
# marshalled: a Hash starts a script, a pid asks how that process has ended, nil ends this one.
require "cuttle"
require "rack"
require "rbconfig"
%w[digest/sha2 fileutils socket timeout].each { |library| require library } # of the tests' apps

module ForkProgram
  @asked, @answers = $stdin.dup, $stdout.dup

  class << self
    # What a server has loaded when it serves.
    def preload(engine, core)
      settings = Cuttle::Settings.build(variables: {}, engine: engine, core: core)
      Cuttle::Server.new(->(_env) {}, settings: settings).preload
      Cuttle::Worker.preload
      Cuttle::CLI.command("serve")
      [Cuttle::Worker, Cuttle::Listeners, Cuttle::Cluster].each { |room| load_all(room) }
      [Cuttle::Configuration, Cuttle::Control::Commands, Cuttle::DatabasePools, Cuttle::Hooks, Cuttle::Launcher,
       Cuttle::Memory, Cuttle::PidFile, Cuttle::Rack::GemChecks, Cuttle::Rack::Loader, Cuttle::Redirection,
       Cuttle::Restart, Cuttle::RubyFile, Cuttle::Settings::Help, Cuttle::Settings::LIKES, Cuttle::Warmup,
       Rack::Builder].each(&:to_s) # to name them loads them
      3.times { GC.start } # what has survived three is old, and left alone from then on
    end

    # In each forked process: what it is to run. In this one: nil, at the end.
    def next_job
      while (asked = Marshal.load(@asked))
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

    def load_all(room) = room.constants.each { |name| room.const_get(name) }

    def answer(value)
      Marshal.dump(value, @answers)
      @answers.flush
    end

    def ending(pid)
      _, status = Process.wait2(pid, Process::WNOHANG)
      status && [status.exitstatus, status.termsig]
    end

    def redirect(out, err)
      [@asked, @answers].each(&:close)
      $stdin.reopen(File::NULL)
      File.open(out, "w") { |file| $stdout.reopen(file) }
      File.open(err, "w") { |file| $stderr.reopen(file) }
      $stderr.sync = true
    end
  end
end

ForkProgram.preload(*ARGV)
job = ForkProgram.next_job
load(ForkProgram.become(job)) if job
