# frozen_string_literal: true

require "rbconfig"
require "shellwords"
require "tmpdir"
require_relative "eventually"
require_relative "raw_client"

# Servers for tests: in this process (#serving), or the command line's (#serving_process). Both stop at the end of the
# block, and both have +uris+, +url+ and +port+.
#
#   serving(app, engine: "threads", threads: 5) do |server|
#     answer = request(server, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")      # => RawClient::Response
#     raw(server, "GET /\r\n\r\n")                                       # => every octet, once the server closed
#     client(server) { |client| client.write("…"); client.response }     # => step by step
#   end
#
#   serving_process("examples/hello.ru", "-w", "2") { |process| Process.kill("TTIN", process.pid) … }
module Serving
  include Eventually

  ROOT = File.expand_path("../..", __dir__)

  # Every engine that takes any app. The engine ractors needs shareable apps, and has the contract suite's.
  ENGINES = Cuttle::Engines.names.reject { |name| Cuttle::Engines.traits(name).ractors? }.freeze

  # A Cuttle::Server with +app+ on a free port; +options+ are Cuttle::Server.new's.
  def serving(app, **options)
    server = Cuttle::Server.new(app, **options).start
    yield server
  ensure
    server&.stop
  end

  # `cuttle serve ARGS` in its own process, on a free port of 127.0.0.1 unless +args+ give one. Yields it when it is
  # ready, or when it has ended (see ServingProcess#running?). +options+ are ServingProcess.new's. +forked+: a
  # ForkServer starts it, which costs less CPU time; for tests that don't depend on what is loaded when, or old, and
  # that execute no program in the server's place.
  def serving_process(*args, chdir: ROOT, forked: false, **options)
    options[:fork_server] = ForkServer.shared if forked
    args = [*args, *ForkServer::FLAGS] if forked
    args = [*args, "-b", "tcp://127.0.0.1:0"] unless args.any? { |arg| arg.match?(/\A(-b|-p|--bind|--port)/) }
    process = ServingProcess.new(["#{ROOT}/exe/cuttle", "serve", *args], chdir: chdir, **options)
    process.wait_until_ready
    yield process
  ensure
    process&.finish
  end

  def client(server, timeout: PATIENCE, &block)
    RawClient.open(server, timeout: timeout, &block)
  end

  # Sends +bytes+ on a new connection and reads one final response; nil if the server closed without one.
  def request(server, bytes, timeout: PATIENCE)
    client(server, timeout: timeout) { |client| client.write(bytes).response(request: bytes[/\A\s*(\S+)/, 1]) }
  end

  # GET +path+ on a new connection, as HTTP/1.1 with Connection: close.
  def get(server, path = "/", headers = {})
    fields = { "Host" => "example.test", "Connection" => "close" }.merge(headers)
    request(server, "GET #{path} HTTP/1.1\r\n#{fields.map { |name, value| "#{name}: #{value}\r\n" }.join}\r\n")
  end

  # Sends +bytes+ on a new connection and returns every octet until the server closes. Raises if the server keeps the
  # connection open. +half_close+ sends FIN after the bytes.
  def raw(server, bytes, timeout: PATIENCE, half_close: false)
    client(server, timeout: timeout) do |client|
      client.write(bytes)
      client.half_close if half_close
      client.read_to_end
    end
  end

  # A server in its own process: a Ruby script with arguments.
  class ServingProcess
    include Eventually

    # The last line that a server prints at its start.
    READY = "Ctrl-C stops"

    attr_reader :pid, :status

    # Where this clone's library is.
    PATHS = [ENV["CUTTLE_EXTENSION"], "#{ROOT}/lib"].compact.freeze

    # The command that runs a Ruby script; with another Ruby if CUTTLE_SERVER_RUBY names one.
    RUBY = ENV["CUTTLE_SERVER_RUBY"]&.shellsplit || [RbConfig.ruby]

    # Whether JRuby runs the servers.
    JVM = RUBY.include?("org.jruby.Main")

    # Gems that JRuby may find: others have C extensions, which it can't load.
    GEMS = JVM ? { "RUBYLIB" => Gem.loaded_specs["rack"].full_require_paths.join(File::PATH_SEPARATOR) } : {}

    # The command that runs a script. Gems are found by their paths (test_helper.rb). Loading RubyGems would take half
    # of a server's start; +gems+ loads it, for apps that need it.
    def self.ruby(paths: PATHS, gems: false)
      [*RUBY, *("--disable=gems" unless gems), *paths.map { |path| "-I#{path}" }]
    end

    # +paths+ and +gems+ as above. +under+ is a command that runs this one. +fork_server+: a ForkServer that starts it.
    def initialize(command, env: {}, chdir: ROOT, under: [], fork_server: nil, **ruby)
      @directory = Dir.mktmpdir("cuttle")
      @group = Process.getpgrp
      @fork_server = fork_server
      env = { "WEB_CONCURRENCY" => nil, "PORT" => nil, **GEMS }.merge(env)
      files = { chdir: chdir, out: file("out"), err: file("err") }
      @pid = if fork_server
               fork_server.start(command, env: ENV.to_h.merge(env).compact, **files)
             else
               spawn(env, *under, *self.class.ruby(**ruby), *command, in: File::NULL, **files)
             end
    end

    # Waits until it has printed that it serves, or has ended.
    def wait_until_ready
      eventually("the server's readiness (#{err})") { out.include?(READY) || !running? }
    end

    def out
      File.read(file("out"))
    end

    def err
      File.exist?(file("err")) ? File.read(file("err")) : ""
    end

    def running?
      return false if @status

      @status = @fork_server ? @fork_server.status(@pid) : Process.wait2(@pid, Process::WNOHANG)&.last
      @status.nil?
    end

    # Raises if it does not serve.
    def uris
      found = out.scan(%r{(?:https?|unix)://\S+})
      found.empty? ? raise("no server: #{err}") : found
    end

    # The first of them; a restart prints it again. Kept, because each request asks.
    def url
      @url ||= uris.first
    end

    def port
      url[/:(\d+)\z/, 1].to_i
    end

    # Pids of the present workers, by their titles; including elders, which serve until a hot restart is over.
    def workers
      titled(/\Acuttle: worker \d+ of #{@pid}\b/)
    end

    # Pids of the processes that load the app.
    def moulds
      titled(/\Acuttle: mould of #{@pid}\b/)
    end

    # Waits for that many workers, and for the end of the processes between them and their mould, which have the mould's
    # title for a moment. Returns the pid of the mould.
    def mould(count)
      eventually("#{count} workers and their mould") { workers.length == count && moulds.one? }
      moulds.first
    end

    # Sends +signal+ and waits for the end; returns the Process::Status.
    def stop(signal = "TERM", within: PATIENCE)
      Process.kill(signal, @pid) if running?
      eventually("the server's end after #{signal}", within: within) { !running? }
      @status
    end

    # The end of the test: ends everything, whatever happened.
    def finish
      stop
    rescue StandardError
      [*workers, *moulds, @pid].each { |pid| Process.kill("KILL", pid) } if running?
      eventually("its end") { !running? }
      raise
    ensure
      FileUtils.remove_entry(@directory)
    end

    private

    # A process stays in the group of the process that forked it. Asking for a group costs much less than reading a
    # title.
    def titled(form)
      group = group()
      Dir.children("/proc").grep(/\A\d+\z/).map(&:to_i).select do |pid|
        Process.getpgid(pid) == group && File.read("/proc/#{pid}/cmdline").match?(form)
      rescue Errno::ENOENT, Errno::ESRCH
        false # it has just ended
      end
    end

    # The server's process group; when it has ended, its last known group. (+under+ may have changed it.)
    def group
      @group = Process.getpgid(@pid) unless @status
      @group
    rescue Errno::ESRCH
      @group
    end

    def file(name)
      "#{@directory}/#{name}"
    end
  end
end
