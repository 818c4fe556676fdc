# frozen_string_literal: true

require "digest/sha2"
require "monitor"
require "tmpdir"
require_relative "../../support/cpu_time"
require_relative "../../support/fork_server"
require_relative "../../support/serving"
require_relative "../../support/wire_client"

module EngineContract
  # What the suites ask pooled engines and fibers for, unless a test says otherwise.
  THREADS = 3
  FIBERS = 8

  # So that no client is given up that has its turn late, on a loaded machine; and the grace that each stop takes where
  # a connection was kept, which by default is 5 s.
  TIMES = %w[--request-timeout 600 --write-timeout 600 --min-rate 0 --drain-grace 0.5].freeze

  # Seconds that anything may take; only what hangs takes as long.
  DEADLINE = Eventually::PATIENCE

  # One engine as users run it: `cuttle serve` as a process, alone or with two workers, over one core and one poller
  # back end. Most tests share a server, which the first of them starts as users do. The others have one of their own,
  # which a ForkServer starts.
  class Case < Minitest::Test
    include Eventually

    APP = File.expand_path("app.ru", __dir__)

    # What nio4r asks of RubyGems. To load all of that would take as long as a server's start without it.
    PLATFORM = "-r#{File.expand_path("platform.rb", __dir__)}".freeze
    LOCK = Monitor.new

    class << self
      attr_reader :engine, :workers, :ractors, :backend, :core, :tls, :auto

      # A suite of +contracts+ (modules of tests) for one way to run an engine. +ractors+: in each process, if any.
      # +tls+: clients speak TLS, by these options of TlsSocket. +auto+: threads are started as they help.
      def for(engine, workers, backend, contracts, core: "native", ractors: 0, tls: nil, auto: false)
        Class.new(self) do
          @engine = engine
          @tls = tls
          @core = core
          @workers = workers
          @ractors = ractors
          @backend = backend
          @auto = auto
          contracts.each { |contract| include contract }
        end
      end

      def traits = Cuttle::Engines.traits(engine)

      def name
        return super unless engine

        ways = workers.zero? ? "alone" : "clustered"
        ways = "in #{ractors}" if ractors > 1
        "TestEngine(#{[engine, ways, core, backend, ("TLS" if tls), ("-t auto" if auto)].compact.join(", ")})"
      end
      alias to_s name

      # The server that tests share. Threads of one test may be the first to ask for it.
      def shared
        LOCK.synchronize { @shared ||= start(forked: false).tap { |server| Minitest.after_run { server.finish } } }
      end

      # A server of its own: the command line's with +flags+, or +script+ with its arguments; +env+ are variables.
      # +forked+: by the fork server, where it doesn't matter what is loaded when.
      def start(*flags, script: nil, env: {}, forked: script.nil? && ractors.zero?)
        Serving::ServingProcess.new(script || serve(flags), env: variables.merge(env),
                                                            fork_server: (fork_server if forked))
                               .tap(&:wait_until_ready)
      end

      # nil where Ruby can't fork.
      def fork_server
        return if Serving::ServingProcess::JVM

        LOCK.synchronize do
          @fork_server ||= ForkServer.new(Serving::ServingProcess.ruby, variables, engine, core)
                                     .tap { |server| Minitest.after_run { server.stop } }
        end
      end

      def variables
        { "CUTTLE_GATES" => gates, "CUTTLE_BACKEND" => backend, "CUTTLE_CORE" => core,
          "RUBYOPT" => (PLATFORM if backend == "nio4r") }.compact
      end

      def serve(flags)
        threads = traits.pooled? ? ["-t", "#{THREADS}:#{THREADS}"] : []
        threads = ["-t", "auto", "--max-threads", THREADS.to_s] if auto
        in_ractors = ractors.positive? ? ["--ractors", ractors.to_s] : []
        ["#{Serving::ROOT}/exe/cuttle", "serve", APP, "-b", tls ? TlsFiles.uri : "tcp://127.0.0.1:0", "--keep-alive",
         "--engine", engine, "-w", workers.to_s, *in_ractors, *threads, *TIMES, *flags]
      end

      def gates
        LOCK.synchronize do
          @gates ||= Dir.mktmpdir("cuttle").tap { |path| Minitest.after_run { FileUtils.remove_entry(path) } }
        end
      end
    end

    def setup
      @clients = []
      @held = 0
    end

    def teardown = leave

    # Nothing of this test stays in the server.
    def leave
      open_gates
      @clients.each(&:close)
    end

    def traits = self.class.traits
    def clustered? = self.class.workers.positive?

    # Whether the server has several of what an app keeps for itself, and of limits: in processes, or in ractors.
    def several? = shares > 1

    # How many of them.
    def shares = [self.class.workers, self.class.ractors, 1].max

    def server = @server || self.class.shared
    def port = server.port

    # The processes that serve.
    def serving_pids = clustered? ? server.workers : [server.pid]

    # Requests that all of them together have in the app at once.
    def capacity = at_once * shares

    # Requests that one process, or ractor, has in the app at once. (So many of a fibers engine are enough to see it.)
    def at_once = traits.capacity(threads: THREADS..THREADS, max_fibers: FIBERS)

    # What AddressSanitizer says once of a process that ends in a fiber, whose stack it doesn't know.
    FIBER_STACK = /^==\d+==WARNING: ASan is ignoring requested __asan_handle_no_return.*\n(?!==)(?:.+\n){2}/

    # Runs the block against a server of its own (see Case.start), which ends in order, with +said+ on its standard
    # error (a String, or a Regexp that matches it). Returns what the block does.
    def with_server(*flags, said: "", **process)
      @server = self.class.start(*flags, **process)
      assert @server.running?, @server.err
      result = yield @server
      leave
      @server.stop
      assert_equal 0, @server.status.exitstatus, @server.err
      assert_operator said, :===, @server.err.sub(FIBER_STACK, "")
      result
    ensure
      leave
      @server&.finish
      @server = nil
    end

    # A client that is closed when the test ends.
    def connect(**options)
      WireClient.new(port, deadline: DEADLINE, tls: self.class.tls, **options).tap { |client| @clients << client }
    end

    def get(target, *lines) = "GET #{target} HTTP/1.1\r\nHost: a\r\n#{lines.map { |line| "#{line}\r\n" }.join}\r\n"

    def post(target, body) = "POST #{target} HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}".b

    # The body that +target+ is answered with, on a connection of its own.
    def fetch(target)
      open_client { |client| client.ask(get(target, "Connection: close")).body }
    end

    # Yields a client, and closes it.
    def open_client(&block) = WireClient.open(port, deadline: DEADLINE, tls: self.class.tls, &block)

    def assert_serves = assert_equal("hello", fetch("/"))

    # A client whose request is in the app, and stays there until its gate is opened.
    def hold(client = connect, action: "hold")
      gate = "#{self.class.object_id}-#{object_id}-#{@held += 1}"
      client.write(get("/#{action}?#{gate}"))
      entered(gate)
      client
    end

    # Flags with which so many requests are in the app at once as the suite asks for.
    def bounded = traits.fibers? ? ["--max-fibers", FIBERS.to_s] : []

    # Waits until the app is where the gate says; returns what it left there.
    def entered(gate)
      eventually("a request in the app at gate #{gate}") { entered?(gate) }
      File.read(mark(gate))
    end

    def entered?(gate) = File.exist?(mark(gate))

    # The file that the app makes at a gate.
    def mark(gate) = "#{self.class.gates}/#{gate}.in"

    # Waits until every worker accepts.
    def await_all
      clients = []
      eventually("an answer from each of #{shares}") do
        clients << connect
        clients.map { |client| client.ask(get("/who")).body }.uniq.size == shares
      end
      clients.each(&:close)
    end

    # Every request that may be in the app is.
    def hold_all = Array.new(capacity) { hold }

    def open_gate(gate) = FileUtils.touch("#{self.class.gates}/#{gate}.go")

    def open_gates
      Dir.glob("#{self.class.gates}/*.in").each { |path| open_gate(File.basename(path, ".in")) }
    end

    # The next answer on a connection that the server may have ended since the last one; then on a new one.
    def ask_again(client, bytes)
      client.ask(bytes)
    rescue WireClient::Truncated => error
      raise unless error.received.empty?

      connect.ask(bytes)
    end
  end
end
