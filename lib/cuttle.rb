# frozen_string_literal: true

require "cuttle/version"

# Cuttle: one Ruby web server with every concurrency model, and the lab that tells which one an app should have.
# Rooms load lazily: a server never loads the lab, and an engine never loads another.
module Cuttle
  # The directory of the server's gem, or of the clone.
  ROOT = File.expand_path("..", __dir__).freeze

  # The variable that has the process id of a program which a server executed in its own place (see Restart).
  EXECUTED = "CUTTLE_RESTARTED"

  # Anything a user can mend: its message is printed as one line, without a backtrace.
  class Error < StandardError
    # One line about any exception. It has the class of those that aren't ours, because many messages say too little.
    def self.line(error)
      error.is_a?(Error) ? error.message : "#{error.message.lines.first.to_s.strip} (#{error.class})"
    end
  end

  # A wrong option, value or combination: exit code 2.
  class UsageError < Error; end

  # A response that can't be sent as the app returned it.
  class InvalidResponse < Error; end

  # The client has gone.
  class Disconnected < IOError; end

  # Seconds, of time that only goes forward.
  def self.now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # Writes one line for the operator to +io+. If nobody takes it (a full disk, a pipe whose reader is gone), the server
  # goes on. Unlike Kernel#warn it also speaks under ruby -W0.
  def self.report(line, io = $stderr)
    io.write("cuttle: #{line}\n")
  rescue SystemCallError, IOError
    nil
  end

  # The figures of this process' server, for the app: a Hash with its pid (and its index, of a worker), Puma's keys, and
  # Server#stats. Empty outside a server. Stats.of describes the keys.
  def self.stats
    Stats.current
  end

  autoload :Backtraces, "cuttle/backtraces"
  autoload :Catalogue, "cuttle/catalogue"
  autoload :CLI, "cuttle/cli"
  autoload :Configuration, "cuttle/configuration"
  autoload :Control, "cuttle/control"
  autoload :ControlGroups, "cuttle/control_groups"
  autoload :DatabasePools, "cuttle/database_pools"
  autoload :Hooks, "cuttle/hooks"
  autoload :Import, "cuttle/import"
  autoload :Launcher, "cuttle/launcher"
  autoload :Listeners, "cuttle/listeners"
  autoload :Memory, "cuttle/memory"
  autoload :Notify, "cuttle/notify"
  autoload :PidFile, "cuttle/pid_file"
  autoload :Plugin, "cuttle/plugin"
  autoload :Redirection, "cuttle/redirection"
  autoload :Restart, "cuttle/restart"
  autoload :RubyFile, "cuttle/ruby_file"
  autoload :Settings, "cuttle/settings"
  autoload :Server, "cuttle/server"
  autoload :Service, "cuttle/service"
  autoload :Signals, "cuttle/signals"
  autoload :Static, "cuttle/static"
  autoload :Stats, "cuttle/stats"
  autoload :Engines, "cuttle/engines"
  autoload :Http, "cuttle/http"
  autoload :Rack, "cuttle/rack"
  autoload :Turns, "cuttle/turns"
  autoload :Warmup, "cuttle/warmup"
  autoload :Report, "cuttle/report"
  autoload :Cores, "cuttle/cores"
  autoload :Cluster, "cuttle/cluster"
  autoload :Telemetry, "cuttle/telemetry"
  autoload :Ledger, "cuttle/telemetry/ledger"
  autoload :Load, "cuttle/load"
  autoload :Lab, "cuttle/lab"
  autoload :Studies, "cuttle/studies"
  autoload :Tuner, "cuttle/tuner"
  autoload :Watchdog, "cuttle/watchdog"
  autoload :Worker, "cuttle/worker"

  # The C primitives (ext/cuttle).
  autoload :Connection, "cuttle/cores/native"
  autoload :Exchange, "cuttle/cores/native"
  autoload :Poller, "cuttle/cores/native"
  autoload :Scoreboard, "cuttle/cores/native"
  autoload :Acceptor, "cuttle/cores/native"
  autoload :Beneath, "cuttle/cores/native"
  autoload :Orphans, "cuttle/cores/native"
  autoload :Malloc, "cuttle/cores/native"
  autoload :Descriptors, "cuttle/cores/native"
end

Cuttle::Restart.begin_again if ENV[Cuttle::EXECUTED] == Process.pid.to_s
Cuttle::Rack::Handler.offer if defined?(Rails)
