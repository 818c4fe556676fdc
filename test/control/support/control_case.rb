# frozen_string_literal: true

require "json"

# Control listeners for a process that only records its commands.
module ControlCase
  include Serving
  include TemporaryDirectory

  # What a supervisor or a single process implements.
  class FakeProcess
    attr_accessor :ready, :live
    attr_reader :commands

    def initialize
      @ready = @live = true
      @commands = []
      @lock = Mutex.new
    end

    def stats = { workers: 2, worker_status: [{ index: 0, last_status: { backlog: 0, max_threads: nil } }] }

    def top = { stats: stats, memory: {}, ledgers: {} }

    def measures
      { versions: Cuttle::Stats.versions, started_at: Time.at(0), ready: @ready, workers: nil, totals: {},
        processes: [], owners: {}, memory: {}, ledger: {} }
    end

    def ready? = @ready

    def live? = @live

    def command(name)
      raise Cuttle::UsageError, "phased-restart: there are no workers" if name == "phased-restart"
      raise "oh" if name == "add-worker"

      @lock.synchronize { @commands << name }
      name == "thread-backtraces" ? [{ name: "main", backtrace: ["a:1"] }] : @commands
    end
  end

  def setup
    @process = FakeProcess.new
  end

  # A Control that answers. Its settings are +options+; the default is a Unix socket.
  def controlling(**options)
    control = Cuttle::Control.new(settings(**options), @process).start
    yield control
  ensure
    control&.stop
  end

  def settings(**options)
    Cuttle::Settings.build(variables: {}, control_url: "unix://#{@directory}/c", **options)
  end

  # As RawClient takes it.
  def address(control)
    control.uri.sub("tcp:", "http:")
  end

  # The response to a request for +path+.
  def ask(control, path, method = "GET", **fields)
    lines = { "Host" => "a", "Connection" => "close", **fields }.map { |name, value| "#{name}: #{value}\r\n" }
    request(address(control), "#{method} #{path} HTTP/1.1\r\n#{lines.join}\r\n")
  end

  def status(...)
    ask(...).status
  end

  def json(...)
    JSON.parse(ask(...).body)
  end
end
