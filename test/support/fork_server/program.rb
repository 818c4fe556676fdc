# frozen_string_literal: true

# The process of a ForkServer. ARGV: the names of an engine and of a core. Each line of its standard input is JSON: an
# object starts a script, a number asks how the process with that pid has ended, null ends this one.
require "cuttle"
require "json"
require "rbconfig"

module ForkProgram
  class << self
    # What a server has loaded when it serves.
    def preload(engine, core)
      Cuttle::CLI.command("serve")
      settings = Cuttle::Settings.build(variables: {}, engine: engine, core: core)
      Cuttle::Server.new(->(_env) {}, settings: settings).preload
      Cuttle::Worker.preload
      [Cuttle::Launcher, Cuttle::Hooks, Cuttle::Listeners::Tcp].each(&:name)
      3.times { GC.start } # what has survived three is old, and left alone from then on
    end

    # In each forked process: what it is to run. In this one: nil, at the end.
    def next_job
      while (asked = JSON.parse($stdin.gets || "null"))
        if asked.is_a?(Integer)
          answer(ending(asked))
        else
          pid = fork or return asked
          answer(pid)
        end
      end
    end

    # Makes this process what it would be if it had been started with this script.
    def become(job)
      ENV.replace(job.fetch("env"))
      Dir.chdir(job.fetch("chdir"))
      redirect(job.fetch("out"), job.fetch("err"))
      srand
      script, *arguments = job.fetch("command")
      ARGV.replace(arguments)
      $PROGRAM_NAME = script
      Process.setproctitle([RbConfig.ruby, script, *arguments].join(" "))
      script
    end

    private

    def answer(value)
      $stdout.puts(JSON.generate(value))
      $stdout.flush
    end

    def ending(pid)
      _, status = Process.wait2(pid, Process::WNOHANG)
      status && [status.exitstatus, status.termsig]
    end

    # Closes what leads to the one who asks.
    def redirect(out, err)
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
