# frozen_string_literal: true

require "bundler"
require "fileutils"
require "rbconfig"
require "socket"
require "tempfile"

module Real
  # A server process on a free port of 127.0.0.1, with an app in it.
  #
  # It is `exe/cuttle serve`, with the app's own gems. REAL_SERVER names another for comparison, as a shell command
  # in which %{port}, %{rackup} and %{app} are filled in:
  #   REAL_SERVER='BUNDLE_GEMFILE=/tmp/%{app}.gemfile bundle exec puma -b tcp://127.0.0.1:%{port} %{rackup}'
  class Server
    include Eventually

    PATIENCE = 60 # seconds, for a start or an end, on a machine that does ten other things

    class Failure < StandardError; end

    attr_reader :port, :pid

    # command: what to run instead of `cuttle serve`; it is called with the port.
    def initialize(app, way, environment = {}, &command)
      @app = app
      @way = way
      @port = Cuttle::Lab::Servers::Ports.free
      @log = Tempfile.create("real-server")
      @command = command ? yield(port) : default_command
      @pid = start(app.environment.merge(environment))
    end

    def url
      "http://127.0.0.1:#{port}"
    end

    # What the server and the app have written to stdout and stderr.
    def log
      File.read(@log.path)
    end

    # Returns once the port takes connections; a server that doesn't come to that is a Failure, and gone.
    def wait_until_ready
      wait_for("listen") { listening? || ended? }
      raise Failure, "#{self} ended at once:\n#{log}" if ended?

      self
    rescue Failure
      kill
      raise
    end

    # Returns once the server has closed every connection that its client has. A blocking engine's thread is free then.
    def wait_until_idle
      wait_for("close its connections") { ended? || connections.zero? }
    end

    # Sends TERM and returns the exit status.
    def stop
      Process.kill("TERM", pid) unless ended?
      wait_for("end after TERM") { ended? }
      @status
    end

    # Whatever happened: nothing of the server stays.
    def kill
      [*pids.drop(1), pid].each { |pid| Process.kill("KILL", pid) } unless ended?
      _, @status = Process.wait2(pid) unless ended?
      FileUtils.rm_f(@log)
    end

    # Until the block's value is true.
    def wait_for(what, &block)
      eventually("waiting for #{self} to #{what}", within: PATIENCE, &block)
    rescue RuntimeError => error
      raise Failure, "#{error.message}; its last words:\n#{log.lines.last(20).join}"
    end

    # The most memory that any process of the server has had, in bytes.
    def peak_memory
      pids.map { |pid| File.read("/proc/#{pid}/status")[/^VmHWM:\s+(\d+) kB/, 1].to_i * 1024 }.max
    end

    # The server's process and its workers.
    def pids
      [pid, *Dir["/proc/#{pid}/task/*/children"].flat_map { |file| File.read(file).split.map(&:to_i) }]
    end

    def to_s
      "#{@app.name} on #{@way}"
    end

    private

    def start(environment)
      output = { %i[out err] => @log.path, in: File::NULL, chdir: @app.directory }
      return spawn(environment, *@command, output) unless @app.gemfile

      Bundler.with_unbundled_env { spawn(environment.merge("BUNDLE_GEMFILE" => @app.gemfile), *@command, output) }
    end

    def default_command
      if (template = ENV["REAL_SERVER"])
        return ["exec env #{format(template, port: port, rackup: @app.rackup, app: @app.name)}"]
      end

      setup = @app.gemfile ? "-rbundler/setup" : "-I#{ROOT}/lib"
      [RbConfig.ruby, setup, "#{ROOT}/exe/cuttle", "serve", *@way.flags, *@app.flags,
       "-b", "tcp://127.0.0.1:#{port}", @app.rackup]
    end

    # Connections to the port that the server has not closed, accepted or not: ESTABLISHED (01) or CLOSE_WAIT (08).
    def connections
      address = format("0100007F:%04X", port)
      File.foreach("/proc/net/tcp").count do |line|
        _, local, _, state = line.split
        local == address && %w[01 08].include?(state)
      end
    end

    def listening?
      TCPSocket.new("127.0.0.1", port).close
      true
    rescue Errno::ECONNREFUSED
      false
    end

    def ended?
      @status ||= Process.wait2(pid, Process::WNOHANG)&.last
    end
  end
end
