# frozen_string_literal: true

require "test_helper"
require "digest/sha2"
require "timeout"
require_relative "mutations"
require_relative "oracle/reports"

# Compares the cores: the same octets, cut at the same places, must bring the same requests to the app and the same
# octets back. CUTTLE_SEED repeats a run, CUTTLE_ROUNDS makes it longer.
class TestCores < Minitest::Test
  ROUNDS = Integer(ENV.fetch("CUTTLE_ROUNDS", 400))
  SEED = Integer(ENV.fetch("CUTTLE_SEED", Random.new_seed % (2**32)))
  ENGINES = %w[hybrid threads].freeze
  REQUESTS = ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
              "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
              "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc",
              "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: y, x/1\r\nExpect: 100-continue\r\n\r\n",
              "GET / HTTP/1.0\r\nConnection: upgrade, keep-alive\r\nUpgrade: x\r\n\r\n"].freeze
  NEXT = "GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

  # Keys of an env that depend on the server or the moment.
  OWN = %w[rack.hijack rack.early_hints rack.errors rack.input cuttle.queue_time cuttle.ledger SERVER_PORT].freeze

  # What an app may return, right or wrong.
  RESPONSES = {
    plain: -> { [200, { "content-type" => "text/plain" }, ["hello"]] },
    status_text: -> { ["404", {}, ["no"]] },
    status_unknown: -> { [299, {}, ["x"]] },
    status_low: -> { [100, {}, []] },
    status_high: -> { [600, {}, []] },
    status_word: -> { ["abc", {}, []] },
    status_nil: -> { [nil, {}, []] },
    no_content: -> { [204, {}, []] },
    no_content_with_body: -> { [204, { "content-length" => "3" }, ["abc"]] },
    reset_content: -> { [205, { "content-length" => "3" }, ["abc"]] },
    not_modified: -> { [304, { "etag" => '"x"', "content-length" => "5" }, []] },
    empty: -> { [200, {}, []] },
    parts: -> { [200, {}, ["a", "", "b" * 70_000, "c"]] },
    many_parts: -> { [200, {}, Array.new(200, &:to_s)] },
    part_no_string: -> { [200, {}, ["a", 1]] },
    body_nil: -> { [200, {}, nil] },
    length_right: -> { [200, { "content-length" => "5" }, ["hello"]] },
    length_short: -> { [200, { "content-length" => "3" }, ["hello"]] },
    length_long: -> { [200, { "content-length" => "9" }, ["hello"]] },
    length_word: -> { [200, { "content-length" => "many" }, ["hello"]] },
    length_named: -> { [200, { "Content-Length" => "many" }, ["hello"]] },
    lengths_named: -> { [200, { "Content-Length" => %w[5 6] }, ["hello"]] },
    lengths: -> { [200, { "content-length" => %w[5 6] }, ["hello"]] },
    newline_values: -> { [200, { "set-cookie" => "a=1\nb=2", "x" => %w[1 2] }, ["x"]] },
    control_value: -> { [200, { "x" => "a\r\nb: c" }, ["x"]] },
    no_token_utf8: -> { [200, { "Grüße" => "c" }, ["x"]] },
    no_token: -> { [200, { "a b" => "c" }, ["x"]] },
    symbol_name: -> { [200, { "x-a": 1 }, ["x"]] },
    header_nil: -> { [200, { "x" => nil }, ["x"]] },
    headers_array: -> { [200, [%w[x y]], ["x"]] },
    headers_number: -> { [200, 5, ["x"]] },
    close: -> { [200, { "connection" => "close" }, ["x"]] },
    keep: -> { [200, { "connection" => "keep-alive", "keep-alive" => "timeout=5" }, ["x"]] },
    option: -> { [200, { "connection" => "x-option" }, ["x"]] },
    option_close: -> { [200, { "connection" => "x-option,, Close" }, ["x"]] },
    options_none: -> { [200, { "connection" => " ,keep-alive" }, ["x"]] },
    advertises: -> { [426, { "upgrade" => "x" }, ["x"]] },
    advertises_itself: -> { [426, { "upgrade" => "x", "connection" => "Upgrade, x" }, ["x"]] },
    switches: -> { [101, { "upgrade" => "X/2" }, ->(stream) { stream.write("a") && stream.close }] },
    switches_to_another: -> { [101, { "upgrade" => "z" }, ->(stream) { stream.close }] },
    switches_to_none: -> { [101, { "connection" => "upgrade" }, ->(stream) { stream.close }] },
    own_date: -> { [200, { "date" => "Mon, 01 Jan 2024 00:00:00 GMT" }, ["x"]] },
    cgi_status: -> { [200, { "status" => "404 Nope" }, ["x"]] },
    chunks: -> { [200, { "transfer-encoding" => "chunked" }, ["1\r\na\r\n0\r\n\r\n"]] },
    chunks_wrong: -> { [200, { "transfer-encoding" => "chunked" }, ["nope"]] },
    coding_named: -> { [200, { "Transfer-Encoding" => "gzip" }, ["x"]] },
    gzip: -> { [200, { "transfer-encoding" => "gzip" }, ["x"]] },
    utf8: -> { [200, { "x-name" => "Grüße" }, ["Grüße"]] },
    each: -> { [200, {}, %w[a b c].each] },
    each_length: -> { [200, { "content-length" => "3" }, %w[a b c].each] },
    each_long: -> { [200, { "content-length" => "2" }, %w[a b c].each] },
    each_short: -> { [200, { "content-length" => "4" }, %w[a b c].each] },
    each_chunks: -> { [200, { "transfer-encoding" => "chunked" }, ["1\r\na\r\n", "0\r\n\r\n"].each] },
    each_no_string: -> { [200, {}, ["x" * 262_145, 1].each] },
    each_raises: -> { [200, {}, Enumerator.new { |parts| (parts << "a") && raise("on purpose") }] },
    stream: -> { [200, {}, ->(stream) { stream.write("a") && stream.close }] },
    stream_raises: -> { [200, {}, ->(stream) { stream.write("a") && raise("on purpose") }] },
    raises: -> { raise "on purpose" },
    file: -> { [200, {}, File.open(__FILE__)] },
    no_body_methods: -> { [200, {}, Object.new] }
  }.freeze

  def self.servers
    @servers ||= ENGINES.product(Cuttle::Cores.names).to_h do |engine, core|
      app = ->(env) { (@seen ||= {})[[engine, core]] && answer(engine, core, env) }
      server = Cuttle::Server.new(app, core: core, engine: engine, drain_grace: nil).start
      Minitest.after_run { server.stop }
      (@seen ||= {})[[engine, core]] = []
      [[engine, core], server]
    end
  end

  class << self
    attr_accessor :response

    def seen(way) = @seen.fetch(way)

    def answer(engine, core, env)
      body = env["rack.input"].read
      seen([engine, core]) << [env.except(*OWN).sort.inspect, Digest::SHA256.hexdigest(body), body.bytesize]
      env["rack.errors"] = Reports.new(seen([engine, core]))
      return response.call if response && env["PATH_INFO"] != "/next"

      [200, { "content-type" => "text/plain" }, [body]]
    end
  end

  def setup
    self.class.response = nil
    @errors, $stderr = $stderr, File.open(File::NULL, "w") # apps fail on purpose
  end

  def teardown
    $stderr.close
    $stderr = @errors
  end

  ENGINES.each do |engine|
    define_method(:"test_same_verdicts_and_envs_#{engine}") do
      mutations = Mutations.new(SEED)
      inputs = ParserRows.all.map(&:octets).select { |octets| octets.bytesize < 40_000 }
      inputs.concat(Array.new(ROUNDS) { mutations.octets })
      assert_no_differences(inputs.filter_map { |octets| difference(engine, octets, mutations.cuts(octets.bytesize)) })
    end

    define_method(:"test_same_responses_whatever_the_app_returns_#{engine}") do
      assert_no_differences(RESPONSES.to_a.product(REQUESTS).filter_map do |(name, response), request|
        self.class.response = response
        difference(engine, request + NEXT, [], name)
      end)
    end
  end

  private

  def assert_no_differences(found)
    assert found.empty?, "seed #{SEED}: #{found.size} differences:\n#{found.first(8).join("\n")}"
  end

  # The differences between the cores, as text; nil if there are none.
  def difference(engine, octets, cuts, name = nil)
    native, pure = Cuttle::Cores.names.map { |core| exchange([engine, core], octets, cuts) }
    return if native == pure

    "#{engine}, #{name}: #{octets.inspect}, cut at #{cuts}\n  native #{native.inspect}\n  pure   #{pure.inspect}"
  end

  # What the app saw, what was reported, and the octets until the connection's end, without dates.
  def exchange(way, octets, cuts)
    self.class.servers # which fills what follows
    seen = self.class.seen(way)
    seen.clear
    back = TCPSocket.open("127.0.0.1", self.class.servers.fetch(way).port) { |socket| talk(socket, octets, cuts) }
    [seen.dup, back.gsub(/^date: [^\r]*/i, "date")]
  end

  def talk(socket, octets, cuts)
    socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, true)
    [0, *cuts, octets.bytesize].each_cons(2) { |from, to| socket.write(octets.byteslice(from, to - from)) }
    socket.close_write
    Timeout.timeout(Eventually::PATIENCE) { socket.read }
  rescue Errno::EPIPE, Errno::ECONNRESET
    "reset"
  end
end
