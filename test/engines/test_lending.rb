# frozen_string_literal: true

require "test_helper"

# Large Strings of an app's wait for slow clients where they are (lent.h). What a client reads is what the app gave,
# whatever the app does to its String then, and whatever Ruby does.
class TestLending < Minitest::Test
  include Eventually

  SIZE = 20_000_000
  SHARED = ("s" * SIZE).freeze

  # Octets that clients read slowly, in many pieces. They read the rest fast, which costs less.
  SLOWLY = 500_000

  class Service
    attr_reader :own

    def call(exchange)
      case exchange.path
      when "/shared" then exchange.respond(200, {}, [SHARED])
      when "/own" then exchange.respond(200, {}, ["head", @own = "o" * SIZE, "", "tail"])
      when "/many" then exchange.respond(200, {}, Array.new(100) { |i| (i % 10).to_s * (SIZE / 100) })
      when "/several" then exchange.respond(200, {}, Array.new(40) { |i| (i % 10).to_s * (SIZE / 40) })
      when "/short" then exchange.respond(200, { "content-length" => "1000000" }, ["s" * SIZE])
      end
      exchange.dispose
    end
  end

  SOURCES = { hybrid: Cuttle::Engines::Hybrid, threads: Cuttle::Engines::Threads }.freeze

  def setup
    @clients = []
  end

  SOURCES.each_key do |name|
    define_method(:"test_a_string_that_the_app_changes_#{name}") do
      serve(name) do
        client = open("/own")
        assert client.heard?(30)
        @service.own.replace("x" * SIZE)
        GC.start
        GC.compact if GC.respond_to?(:compact)
        assert_equal "head#{"o" * SIZE}tail", response(client).body
      end
    end

    define_method(:"test_strings_that_nobody_has_any_more_#{name}") do
      serve(name) do
        { "/many" => 100, "/several" => 40 }.each do |path, count|
          client = open(path)
          assert client.heard?(30)
          5.times { GC.start || Array.new(10) { "y" * (SIZE / 10) } }
          assert_equal Array.new(count) { |i| (i % 10).to_s * (SIZE / count) }.join, response(client).body
        end
      end
    end

    define_method(:"test_a_string_longer_than_it_was_to_be_#{name}") do
      serve(name) { assert_equal "s" * 1_000_000, open("/short").response.body }
    end
  end

  def test_what_many_wait_for_is_lent_once_and_needs_no_disk
    serve(:hybrid) do
      clients = Array.new(4) { open("/shared") } # more than may be lent, were it lent more than once
      clients.each { |client| assert client.heard?(30) }
      assert_equal 0, @source.stats.fetch(:spooled)
      clients.each { |client| assert_equal SHARED, response(client).body }
    end
  end

  # 64 MB altogether: each of the three would fit, were those before it not given back.
  def test_what_was_read_or_left_is_given_back
    serve(:hybrid) do
      4.times do |i|
        clients = Array.new(3) { open("/own") }
        clients.each { |client| assert client.heard?(30) }
        assert_equal 0, @source.stats.fetch(:spooled)
        clients.each { |client| i.even? ? client.reset : response(client) }
        @clients.clear
        eventually("no connection") { @source.stats.fetch(:connections).zero? }
      end
    end
  end

  def test_what_is_not_lent_is_spooled
    serve(:hybrid) do
      clients = Array.new(4) { open("/own") }
      eventually("spooled octets") { @source.stats.fetch(:spooled) > 10_000_000 }
      clients.each { |client| assert_equal SIZE + 8, response(client).body.bytesize }
      eventually("no spooled octets") { @source.stats.fetch(:spooled).zero? }
    end
  end

  private

  def serve(name)
    engine = SOURCES.fetch(name)
    listener = TCPServer.new("127.0.0.1", 0)
    @port = listener.local_address.ip_port
    @source = engine.source([listener], core: Cuttle::Cores::Native, env: {})
    @engine = engine.new(source: @source, service: @service = Service.new, threads: 2..2)
    thread = Thread.new { @engine.run }
    yield
  ensure
    @clients.each(&:close)
    @engine.stop
    assert thread.join(20)
  end

  def response(client) = client.hurry(after: SLOWLY).response

  def open(path)
    @clients << WireClient.new(@port, deadline: 30, receive_buffer: 8_192)
    @clients.last.write("GET #{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
  end
end
