# frozen_string_literal: true

require "digest/sha2"
require "monitor"
require "tmpdir"
require_relative "../../support/cpu_time"
require_relative "../../support/fork_server"
require_relative "../../support/serving"
require_relative "../../support/wire_client"

module EngineContract
  # The settings of the suites for pooled engines and fibers, unless a test has others.
  THREADS = 3
  FIBERS = 8

  # Long enough that no client is given up because a loaded machine serves it late. The grace, by default 5 s, is part
  # of each stop with a persistent connection.
  TIMES = %w[--request-timeout 600 --write-timeout 600 --min-rate 0 --drain-grace 0.5].freeze

  # Octets that slow clients read slowly, in many pieces. They read the rest fast, which costs less.
  SLOWLY = 500_000

  # A limit in seconds for everything. Only an operation that hangs takes as long.
  DEADLINE = Eventually::PATIENCE

  # One engine as users run it: the process `cuttle serve`, alone or with two workers, with one core and one poller back
  # end. Most tests share a server, which the first of them starts as users do. A ForkServer starts the other servers.
  class Case < Minitest::Test
    include Eventually

    APP = File.expand_path("app.ru", __dir__)

    # The parts of RubyGems that nio4r needs. Loading RubyGems would take as long as the start of a server without it.
    PLATFORM = "-r#{File.expand_path("platform.rb", __dir__)}".freeze
    LOCK = Monitor.new

    # The report of AddressSanitizer for a process that ends in a fiber, whose stack it doesn't know.
    FIBER_STACK = /^==\d+==WARNING: ASan is ignoring requested __asan_handle_no_return.*\n(?!==)(?:.+\n){2}/

    class << self
      attr_reader :engine, :workers, :ractors, :backend, :core, :tls, :auto

      # A suite of +contracts+ (modules of tests) for one way to run an engine. +ractors+: in each process, if any.
      # +tls+: clients use TLS, with these options of TlsSocket. +auto+: the server starts threads when they help.
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

      # The server with these flags that tests share: without flags, as users start it. It must end in order, and with
      # +said+ on its standard error. Several threads of one test may request it first.
      def shared(*flags, said: //)
        LOCK.synchronize do
          (@shared ||= {})[flags] ||= start(*flags, **(flags.empty? ? { forked: false } : {})).tap do |server|
            Minitest.after_run { finish(server, said) }
          end
        end
      end

      # Ends a server, which must have nothing to complain of.
      def finish(server, said)
        server.stop
        err = server.err.gsub(FIBER_STACK, "") # each worker may say that
        return if server.status.success? && (said.is_a?(Regexp) ? err.match?(said) : err == said)

        raise "a server that #{name} shared ended with #{server.status.inspect}, and said #{server.err}"
      ensure
        server.finish
      end

      # A new server: the command line's with +flags+, or +script+ with its arguments. +env+: variables. +forked+: the
      # fork server starts it, so the test must not depend on what is loaded when.
      def start(*flags, script: nil, env: {}, forked: script.nil? && ractors.zero?)
        flags += ForkServer::FLAGS if forked
        Serving::ServingProcess.new(script || serve(flags), env: variables.merge(env),
                                                            fork_server: (fork_server if forked))
                               .tap(&:wait_until_ready)
      end

      # nil where Ruby can't fork.
      def fork_server
        ForkServer.shared(backend == "nio4r" ? variables.slice("RUBYOPT", "CUTTLE_BACKEND") : {}, core)
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
         "--engine", engine, "-w", workers.to_s, "--early-hints", *in_ractors, *threads, *TIMES, *flags]
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

    # Leaves nothing of this test in the server.
    def leave
      open_gates
      @clients.each(&:close)
    end

    def traits = self.class.traits
    def clustered? = self.class.workers.positive?

    # Whether the server has several copies of an app's state and of limits: in processes, or in ractors.
    def several? = shares > 1

    # The number of copies.
    def shares = [self.class.workers, self.class.ractors, 1].max

    def server = @server || self.class.shared
    def port = server.port

    # The processes that serve.
    def serving_pids = clustered? ? server.workers : [server.pid]

    # The number of requests that all of them together have in the app at once.
    def capacity = at_once * shares

    # The number of requests that one process, or ractor, has in the app at once. (For fibers, this many are enough for
    # tests.)
    def at_once = traits.capacity(threads: THREADS..THREADS, max_fibers: FIBERS)

    # Runs the block against a new server (see Case.start), which must end in order, with +said+ on its standard error
    # (a String, or a Regexp that matches it). Returns the block's value.
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

    # Runs the block against a server that this test shares with others (see Case.shared).
    def with_shared_server(*flags, **options)
      @server = self.class.shared(*flags, **options)
      yield
    ensure
      leave
      @server = nil
    end

    # A client that is closed when the test ends.
    def connect(**options)
      WireClient.new(port, deadline: DEADLINE, tls: self.class.tls, **options).tap { |client| @clients << client }
    end

    def get(target, *lines) = "GET #{target} HTTP/1.1\r\nHost: a\r\n#{lines.map { |line| "#{line}\r\n" }.join}\r\n"

    def post(target, body) = "POST #{target} HTTP/1.1\r\nHost: a\r\nContent-Length: #{body.bytesize}\r\n\r\n#{body}".b

    # The body of the answer to a request for +target+, on a new connection.
    def fetch(target)
      open_client { |client| client.ask(get(target, "Connection: close")).body }
    end

    # Yields a client, and closes it afterwards.
    def open_client(&block) = WireClient.open(port, deadline: DEADLINE, tls: self.class.tls, &block)

    def assert_serves = assert_equal("hello", fetch("/"))

    # A client whose request is in the app, and stays there until its gate opens.
    def hold(client = connect, action: "hold")
      gate = "#{self.class.object_id}-#{object_id}-#{@held += 1}"
      client.write(get("/#{action}?#{gate}"))
      entered(gate)
      client
    end

    # Flags with which the app has the suite's number of requests at once.
    def bounded = traits.fibers? ? ["--max-fibers", FIBERS.to_s] : []

    # Waits until the app is at the gate. Returns what the app wrote there.
    def entered(gate)
      eventually("a request in the app at gate #{gate}") { entered?(gate) }
      File.read(mark(gate))
    end

    def entered?(gate) = File.exist?(mark(gate))

    # The file that the app creates at a gate.
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

    # Waits until the app has all requests that it may have at once.
    def hold_all(action: "hold") = Array.new(capacity) { hold(action: action) }

    def open_gate(gate) = FileUtils.touch("#{self.class.gates}/#{gate}.go")

    def open_gates
      Dir.glob("#{self.class.gates}/*.in").each { |path| open_gate(File.basename(path, ".in")) }
    end

    # The next answer on a connection that the server may have closed since the last one; then on a new connection.
    def ask_again(client, bytes)
      client.ask(bytes)
    rescue WireClient::Truncated => error
      raise unless error.received.empty?

      connect.ask(bytes)
    end
  end
end
