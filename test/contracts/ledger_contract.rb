# frozen_string_literal: true

require "tmpdir"
require_relative "../support/serving"
require_relative "../support/wire_client"

# The times in the ledger, for one engine with one core. Tests check lower bounds only: a duration that the test has
# observed can't be shorter in the ledger, and a loaded machine makes everything longer.
module LedgerContract
  # Cores without C have nothing for sanitizers.
  CORES = ENV["CUTTLE_SANITIZE"] ? %w[native] : Cuttle::Cores.names.reject { |name| Cuttle::Cores.missing(name) }

  MOMENT = 0.03 # seconds of each phase that a test makes visible
  TICKS = 0.02 # possible error, in seconds, of the system's time for a connection in the backlog
  GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  def self.suite(core, engine)
    Class.new(Case) do
      @core = core
      @engine = engine
    end
  end

  class Case < Minitest::Test
    include Serving

    class << self
      attr_reader :core, :engine

      # Only the suites have tests.
      def runnable_methods = engine ? super : []

      def name = engine ? "TestLedgers(#{core}, #{engine})" : super
      alias to_s name
    end

    def teardown = @clients&.each(&:close)

    def test_each_request_is_counted_once
      serve do
        2.times { connect.then { |client| 3.times { client.ask(GET) } } }
        ledger = counted(6)
        assert_equal [6] * 5, ledger.values_at(:read, :queue, :app, :write, :total).map { |phase| phase[:count] }
        ledger.each_value { |phase| assert_equal phase[:count], phase[:buckets].sum }
        parts = ledger.values_at(:read, :queue, :app, :write).sum { |phase| phase[:sum] }
        assert_operator parts, :<=, ledger[:total][:sum]
      end
    end

    def test_sleep_is_waiting
      serve(->(_) { hello { sleep MOMENT } }, server_timing: true) do
        connect.ask(GET)
        ledger = counted(1)
        assert_takes MOMENT, ledger[:app]
        traits.fibers? ? assert_equal(0, ledger[:wait][:count]) : assert_takes(MOMENT * 0.9, ledger[:wait])
      end
    end

    def test_computing_is_cpu_time
      skip "Ruby doesn't report the thread's time" if traits.fibers? || RUBY_ENGINE == "jruby"

      serve(->(_) { hello { compute(MOMENT) } }, server_timing: true) do
        connect.ask(GET)
        assert_takes MOMENT / 2, counted(1)[:cpu]
      end
    end

    # The clock is read only for some requests, until they are slow.
    def test_the_cpu_clock_is_read_where_that_is_cheap
      skip "Ruby doesn't report the thread's time" if traits.fibers? || RUBY_ENGINE == "jruby"

      serve(->(_) { hello { compute(0.001) } }) do
        client = connect
        60.times { client.ask(GET) }
        assert_operator counted(60)[:cpu][:count], :>, 30
      end
    end

    def test_garbage_collections
      skip "JRuby has another collector" if RUBY_ENGINE == "jruby"

      [false, true].each do |exactly|
        serve(->(_) { hello { GC.start } }, server_timing: exactly) do
          connect.ask(GET)
          ledger = counted(1)
          assert_operator ledger[:gc][:sum], :>, 0
          assert_operator ledger[:gc][:sum], :<=, ledger[:app][:sum]
        end
      end
    end

    # If Ruby provides it.
    def test_waiting_for_the_gvl
      inside = Queue.new
      meet = lambda do
        inside << nil
        eventually("both in the app") { inside.size == 2 }
        compute(MOMENT * 5)
      end
      serve(->(_) { hello(&meet) }, threads: 2) do |server|
        skip "no thread waits for another" unless traits.pooled? && server.ledger[:gvl]

        2.times { connect.write(GET) }
        @clients.each(&:response)
        assert_takes MOMENT, counted(2)[:gvl]
      end
    end

    # The app has all requests that it may have: the next one waits in the backlog, or in the queue if its connection is
    # read.
    def test_a_full_server
      full do |late, gate|
        late.write(GET)
        passed = let_pass(MOMENT * 2)
        2.times { gate << nil }
        late.response
        ledger = counted(2)
        assert_operator ledger.values_at(:accept, :queue).sum { |phase| phase[:sum] / 1e9 }, :>=, passed - TICKS
      end
    end

    def test_a_full_server_with_open_connections
      skip "what nobody reads is not seen" if traits.inline? || !traits.evented?

      full(1) do |late, gate, server|
        late.write(GET)
        eventually("the second") { server.stats[:ready] == 1 }
        passed = let_pass(MOMENT)
        2.times { gate << nil }
        late.response
        assert_takes passed, counted(3)[:queue]
      end
    end

    def test_a_slow_reader
      body = "x" * 10_000_000
      serve(->(_) { [200, {}, [body]] }) do |server|
        client = connect(receive_buffer: 4_096).write(GET)
        eventually("the response") { client.heard?(0) }
        passed = let_pass(MOMENT)
        assert_equal 0, server.ledger[:total][:count]
        assert_equal body.bytesize, client.hurry.response.body.bytesize
        assert_takes passed, counted(1)[:write]
      end
    end

    # The server reads the first half at an unknown time, but early enough.
    def test_a_slow_head
      serve do |server|
        client = connect
        eventually("a request that took its time") do
          client.write(GET[0, 10])
          let_pass(MOMENT)
          client.ask(GET[10..])
          server.ledger[:read][:sum] > MOMENT * 0.5 * 1e9
        end
      end
    end

    def test_the_app_sees_its_own_times
      seen = kept = nil
      serve(->(env) { hello { sleep MOMENT and seen = (kept = env["cuttle.ledger"]).to_h } }) do
        connect.ask(GET)
        counted(1)
        assert_empty %i[read queue app total] - seen.keys
        assert_empty seen.keys - Cuttle::Ledger::PHASES
        assert_operator seen[:app], :>=, MOMENT
        assert_operator seen[:total], :>=, seen[:app]
        assert_raises(IOError) { kept.to_h }
      end
    end

    def test_the_times_in_responses
      own = { "server-timing" => "db;dur=1.5" }
      serve(->(_) { hello(own) { sleep MOMENT } }, server_timing: true) do |server|
        said = get(server)["server-timing"]
        assert_equal "db;dur=1.5", said.split(", ").first
        times = said.scan(/([a-z]+);dur=(\d+\.\d{3})(?:,|\z)/).to_h
        assert_empty times.keys.map(&:to_sym) - Cuttle::Ledger::PHASES
        assert_operator times["app"].to_f, :>=, MOMENT * 1000
        refute times.key?("write")
      end
      serve { assert_nil connect.ask(GET)["server-timing"] }
    end

    # An app that takes the socket, and a client that has gone when the app returns.
    def test_requests_that_end_otherwise
      gate = Queue.new
      serve(->(env) { env["PATH_INFO"] == "/hijack" ? hijack(env) : hello { gate.pop } }) do
        connect.write(GET.sub("/", "/hijack")).ending
        assert_equal 0, counted(1)[:write][:count]
        client = connect.write(GET)
        eventually("the app") { gate.num_waiting == 1 }
        client.reset
        gate << nil
        assert_equal 2, counted(2)[:app][:count]
      end
    end

    def test_requests_that_are_refused_are_not_counted
      serve do |server|
        WireClient.open(server.port) { |client| assert_equal 400, client.ask("nonsense\r\n\r\n").status }
        connect.ask(GET)
        assert_equal 1, counted(1)[:read][:count]
        assert_equal 1, server.ledger[:total][:count]
      end
    end

    def test_none_is_lost_between_threads
      serve do
        Array.new(4) { Thread.new { traits.evented? ? ask_often(100) : 20.times { ask_once } } }.each(&:join)
        counted(traits.evented? ? 400 : 80)
      end
    end

    def test_a_child_of_the_app_counts_nothing
      skip "no fork" unless Process.respond_to?(:fork)

      serve(->(_) { hello { Process.wait(fork { exit!(0) }) } }) do |server|
        connect.ask(GET)
        counted(1)
        connect.ask(GET)
        counted(2)
        assert_equal 2, server.ledger[:app][:count]
      end
    end

    def test_unix_sockets_do_not_show_how_long_they_waited
      skip "JRuby's sockets are others" if RUBY_ENGINE == "jruby"

      Dir.mktmpdir do |directory|
        serve(binds: ["unix://#{directory}/s"]) do
          WireClient.open("#{directory}/s") { |client| client.ask(GET) }
          assert_equal 0, counted(1)[:accept][:count]
        end
        serve(binds: ["tcp://127.0.0.1:0"]) do
          connect.ask(GET)
          assert_equal 1, counted(1)[:accept][:count] if RUBY_PLATFORM.include?("linux")
        end
      end
    end

    private

    def traits = Cuttle::Engines.traits(self.class.engine)

    def serve(app = ->(_) { hello }, **options)
      options = { core: self.class.core, engine: self.class.engine, keep_alive: true, threads: 3,
                  drain_grace: "none", **options }
      options.delete(:threads) unless traits.pooled?
      serving(app, **options) do |server|
        @server = server
        @clients = []
        yield server
      ensure
        @clients.each(&:close)
      end
    end

    # A server with its only request in the app, until the gate gets a line; and another connection, on which that many
    # requests were answered.
    def full(answered = 0)
      gate = Queue.new
      serve(->(env) { hello { gate.pop if env["PATH_INFO"] == "/" } }, threads: 1, max_fibers: 1) do |server|
        late = connect if answered.positive?
        answered.times { late.ask(GET.sub("/", "/open")) }
        connect.write(GET)
        eventually("the first in the app") { gate.num_waiting == 1 }
        yield late || connect, gate, server
      end
    end

    def hello(fields = {})
      yield if block_given?
      [200, { "content-type" => "text/plain", **fields }, ["hello"]]
    end

    def hijack(env)
      env["rack.hijack"].call.close
      [200, {}, []]
    end

    # Uses the CPU for that many seconds.
    def compute(seconds)
      start = cpu_time
      nil while cpu_time - start < seconds
    end

    def cpu_time = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

    def connect(**options)
      WireClient.new(@server.port, **options).tap { |client| @clients << client }
    end

    def ask_often(times)
      WireClient.open(@server.port) { |client| times.times { client.ask(GET) } }
    end

    def ask_once
      WireClient.open(@server.port) { |client| client.ask(GET.sub("\r\n\r\n", "\r\nConnection: close\r\n\r\n")) }
    end

    # Waits for that time and returns the actual duration.
    def let_pass(seconds)
      start = Cuttle.now
      eventually("the time") { Cuttle.now - start > seconds }
      Cuttle.now - start
    end

    # Returns the ledger when it has that many requests.
    def counted(number)
      eventually("#{number} requests in the ledger (#{Cuttle::Ledger.summary(@server.ledger)})") do
        @server.ledger.then { |ledger| ledger if ledger[:total][:count] >= number }
      end.tap { |ledger| assert_equal number, ledger[:total][:count] }
    end

    def assert_takes(seconds, phase)
      assert_operator phase[:sum] / 1e9, :>=, seconds
    end
  end
end
