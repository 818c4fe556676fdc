# frozen_string_literal: true

require "minitest"
require "monitor"
require "rack/lint"
require_relative "eventually"
require_relative "wire_client"
require_relative "recorder"

# Tests of a server's behaviour on the wire. Each suite runs with each core, and with one engine for each kind of
# source, because the two sides of a core read requests and write responses separately. It starts one server for each,
# in this process. Each test chooses the app.
class HttpCase < Minitest::Test
  include Eventually

  ENGINES = (ENV["CUTTLE_ENGINE"] || "hybrid,threads").split(",").freeze
  # Cores without C have nothing for sanitizers.
  CORES = ENV["CUTTLE_SANITIZE"] ? %w[native] : Cuttle::Cores.names.reject { |name| Cuttle::Cores.missing(name) }
  WAYS = CORES.product(ENGINES).freeze
  LOCK = Monitor.new

  class << self
    attr_accessor :way

    # A suite becomes one class for each way; each inherits the tests that the suite is about to define.
    def inherited(suite)
      super
      return unless suite.superclass == HttpCase

      suite.way, *others = WAYS
      others.each { |way| Class.new(suite).way = way }
    end

    def name = superclass == HttpCase || self == HttpCase ? super : superclass.name
    def to_s = self == HttpCase ? super : "#{name}(#{way.join(", ")})"
    def core = way.first
    def engine = way.last
    def inspect = to_s

    # The server of this suite: started by the first test that asks, stopped when all have run.
    def server
      LOCK.synchronize do
        @server ||= begin
          options = { core: core, engine: engine, early_hints: true, **server_options }
          server = Cuttle::Server.new(->(env) { @app.call(env) }, **options)
          Minitest.after_run { server.stop }
          server.start
        end
      end
    end

    # The suite's options for its server.
    def server_options = {}

    # The app that answers from now on.
    attr_writer :app
  end

  attr_reader :recorder

  def setup
    @recorder = Recorder.new
    self.class.app = Rack::Lint.new(recorder)
  end

  # Answers with the block instead of the recorder.
  def app(&block)
    self.class.app = block
  end

  def port = self.class.server.port

  def open_client(**options, &block) = WireClient.open(port, **options, &block)

  # A request with a valid Host: its start line, further field lines, and its body.
  def request(start = "GET / HTTP/1.1", *lines, body: "")
    ["#{start}\r\nHost: example.test\r\n", *lines.map { |line| "#{line}\r\n" }, "\r\n", body].map(&:b).join
  end

  # A POST in the chunked coding. The body is sent as given.
  def chunked(coded, *lines) = request("POST / HTTP/1.1", "Transfer-Encoding: chunked", *lines, body: coded)

  # The server answers with one of +statuses+ and closes, and the app does not get the request; sent at once, and octet
  # by octet.
  def assert_refused(bytes, with: 400, deliveries: %i[write dribble])
    deliveries.each do |delivery|
      open_client do |client|
        response = client.public_send(delivery, bytes).response
        assert_includes Array(with), response.status, context(bytes, delivery)
        assert_ended client, bytes, delivery
      end
    end
    assert_empty recorder.seen, context(bytes)
  end

  # The app gets one request, complete, and the client its 200. Returns what the app saw, and the response.
  def assert_served(bytes, head: false)
    recorder.seen.clear
    response = open_client { |client| client.ask(bytes, head: head) }
    assert_equal 200, response.status, context(bytes)
    assert_equal 1, recorder.seen.size, context(bytes)
    [recorder.seen.last, response]
  end

  # The answer is not a success: nothing at all, or an error.
  def assert_no_success(octets)
    refute_match(/\AHTTP\S+ [23]/n, octets)
  end

  # The body was closed once (or +times+); its close comes after the last octet, so the client may be ahead of it.
  def assert_closed(body, times = 1, message = nil)
    eventually("the body's close") { body.closes >= times }
    assert_alive
    assert_equal times, body.closes, message
  end

  # The server continues to serve: what came before did no harm.
  def assert_alive
    app { [200, {}, ["alive"]] }
    assert_equal "alive", open_client { |client| client.ask(request) }.body
  end

  private

  # Octets in flight when a server closes may cause a reset. Only a request that was sent at once rules that out.
  def assert_ended(client, bytes, delivery)
    allowed = delivery == :write && bytes.bytesize < 2_000 ? %i[closed] : %i[closed reset]
    assert_includes allowed, client.ending, context(bytes, delivery)
  end

  def context(bytes, delivery = nil)
    shown = bytes.bytesize < 500 ? bytes : bytes[0, 200]
    "#{self.class.way.join(", ")}#{delivery && ", #{delivery}"}: #{shown.inspect}"
  end
end
