# frozen_string_literal: true

require_relative "../support/eventually"
require_relative "../support/serving"

# The suite for every load tester, against servers that know which requests they got: reported values must be right, and
# values that are not reported must be nil.
module TesterContract
  include Eventually
  include Serving

  CONNECTIONS = 3
  REQUESTS = 60
  BODY = "x" * 20_000
  WAIT = 0.05 # seconds
  PAUSE = 0.002 # seconds of each request, so that a load with a duration leaves the processor to other tests
  RESOLUTION = 0.0051 # seconds: of the coarsest tester, except Siege, which counts ticks of 10 ms
  TICK = 0.0101

  # A suite for the tester called +name+.
  def self.suite(name)
    tester = Cuttle::Lab::Testers.find(name)
    contract = self
    Class.new(Minitest::Test) do
      include contract

      define_method(:tester) { tester }
      define_singleton_method(:name) { "Test#{tester.to_s.split("::").last}" }
    end
  end

  def setup
    skip tester.unavailable if tester.unavailable
    @asked = Queue.new
  end

  def test_it_counts_what_was_answered
    result = load_app { [200, {}, [BODY]] }
    assert_includes 0..CONNECTIONS, @asked.size - result.responses # a tester with a duration leaves some in flight
    assert_operator result.responses, :>=, [REQUESTS, @asked.size].min - CONNECTIONS
    assert_operator result.arrivals, :>=, result.responses
    assert_equal 0, result.errors.values.sum, result.errors.inspect
    assert_in_delta 1, result.octets.fdiv(result.responses * BODY.length), 0.1
    refute result.interrupted?
  end

  def test_its_times_and_rates_are_the_servers
    result = load_app { sleep(WAIT) && [200, {}, [BODY]] }
    times = [result.latency.min, result.latency.mean, result.percentile(50.0), result.percentile(99),
             result.latency.max].compact
    assert_operator times.length, :>=, 2
    resolution = tester::PROGRAM == "siege" ? TICK : RESOLUTION
    times.each { |time| assert_operator time, :>=, (WAIT - resolution) * 1e9 }
    assert_equal times.last, times.max
    assert_operator result.rate, :<=, CONNECTIONS / WAIT * 1.05
    assert_in_delta result.responses, result.rate * result.elapsed, result.responses * 0.1
    assert_includes 0..1.1, result.client_cpu
  end

  def test_connections_persist_where_they_may
    load_app(keep_alive: true) { [200, {}, ["kept"]] }
    assert_equal [true], asked.map { |env| persistent?(env) }.uniq
  end

  def test_and_nowhere_else
    load_app(keep_alive: false) { [200, {}, ["closed"]] }
    assert_equal [false], asked.map { |env| persistent?(env) }.uniq
  end

  def test_the_target_is_asked_for_as_it_is
    load_app(path: "/work?cpu_ms=1.5&iowait_ms=0&spin=wall") { [200, {}, ["worked"]] }
    assert_equal [["/work", "cpu_ms=1.5&iowait_ms=0&spin=wall"]],
                 asked.map { |env| env.values_at("PATH_INFO", "QUERY_STRING") }.uniq
  end

  def test_a_request_of_its_own_is_sent_or_refused
    own = { headers: [["X-Token", 'a:b "c"']], body: %({"size": "größer"}\r\n\0\\n) }
    if tester.any_request?
      load_app(**own) { [200, {}, ["read"]] }
      assert_equal [["POST", 'a:b "c"', own[:body].b]],
                   asked.map { |env| env.values_at("REQUEST_METHOD", "HTTP_X_TOKEN", "body") }.uniq
    else
      own.each do |name, value|
        error = assert_raises(Cuttle::Lab::Failure) { load_url("http://a/", name => value) }
        assert_match(/\A#{tester::PROGRAM} sends plain GETs only/, error.message)
      end
    end
  end

  def test_a_time_ends_it
    result = load_app(requests: nil, duration: 0.4) { [200, {}, ["timed"]] }
    assert_operator result.responses, :>, CONNECTIONS
  rescue Cuttle::Lab::Failure => error
    assert_match(/\A#{tester::PROGRAM} needs a number of requests/, error.message)
  end

  def test_wrong_answers_are_wrong
    [404, 500].each do |status|
      result = load_app { [status, {}, ["no"]] }
      wrong = result.errors.select { |name, _| name.start_with?("status_") }.values.sum
      assert_equal result.responses, wrong, "#{status}: #{result.inspect}"
      assert_operator result.errors.values.sum, :>=, REQUESTS, "#{status}: #{result.inspect}"
    end
  end

  def test_answers_that_break_off_are_none
    %i[closing resetting].each do |kind|
      result = Cuttle::Load::TestServers.open(kind) { |server| load_url(server.url) }
      assert(result.responses.zero? || result.errors.values.sum >= result.responses, "#{kind}: #{result.inspect}")
    rescue Cuttle::Lab::Failure => error
      assert_match(/\A#{tester::PROGRAM}: \S/, error.message) # it gave up
    end
  end

  def test_nobody_listens
    result = load_url("http://127.0.0.1:#{Cuttle::Load::TestServers.open(&:port)}/")
    assert_equal 0, result.responses
    [result.latency.min, result.latency.mean, result.percentile(50)].each { |time| assert_nil time }
  rescue Cuttle::Lab::Failure => error
    assert_match(/\A#{tester::PROGRAM}: .*refused/i, error.message)
  end

  def test_it_can_be_interrupted
    serving(app { [200, {}, [BODY]] }) do |server|
      run = tester.new("#{server.url}/", connections: 1, requests: 10_000_000, duration: 600)
      result = Thread.new { run.run }
      eventually("a request") { @asked.size.positive? }
      run.interrupt
      assert_predicate result.value, :interrupted?
    end
  end

  def test_what_was_interrupted_before_it_began_ends_at_once
    run = tester.new("http://127.0.0.1:1/", connections: 1, requests: 1000, duration: 600)
    run.interrupt
    assert_predicate run.run, :interrupted?
  end

  def test_what_it_can_not_do_it_says
    { rate: 10, mix: "requests.json" }.each do |name, value|
      error = assert_raises(Cuttle::Lab::Failure) do
        tester.new("http://a/", connections: 1, duration: 1, name => value)
      end
      assert_match(/\A#{tester::PROGRAM} can't send requests at a rate, or from a mix/, error.message)
    end
  end

  private

  # The result of a run against an app that answers with the block's value.
  def load_app(path: "/", **options, &answer)
    serving(app(&answer), engine: "threads", threads: CONNECTIONS + 1) do |server|
      load_url("#{server.url}#{path}", **options)
    end
  end

  def load_url(url, keep_alive: true, requests: REQUESTS, duration: 1, **request)
    tester.new(url, connections: CONNECTIONS, keep_alive: keep_alive, requests: requests, duration: duration, seed: 1,
                    **request).run
  end

  def app
    lambda do |env|
      @asked << env.slice("HTTP_CONNECTION", "SERVER_PROTOCOL", "PATH_INFO", "QUERY_STRING", "REQUEST_METHOD",
                          "HTTP_X_TOKEN").merge("body" => env["rack.input"]&.read)
      sleep PAUSE
      yield
    end
  end

  # Environments of the requests so far.
  def asked
    Array.new(@asked.size) { @asked.pop }
  end

  # RFC 9112, section 9.3, and the keep-alive of HTTP/1.0.
  def persistent?(env)
    asked = env["HTTP_CONNECTION"].to_s.downcase
    env["SERVER_PROTOCOL"] == "HTTP/1.0" ? asked == "keep-alive" : asked != "close"
  end
end
