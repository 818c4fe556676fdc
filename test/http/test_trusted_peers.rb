# frozen_string_literal: true

require "test_helper"
require "tempfile"
require "tmpdir"
require_relative "../support/proxy_headers"

# --trust and --proxy-protocol with other settings, on servers of their own.
class TestTrustedPeers < Minitest::Test
  include Serving
  include ProxyHeaders

  APP = ->(env) { [200, {}, [env.values_at("REMOTE_ADDR", "rack.url_scheme").join(" ")]] }
  REQUEST = "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n\r\n"

  def test_peers_of_a_unix_socket
    { [] => "127.0.0.1 http", ["127.0.0.1"] => "127.0.0.1 http", ["unix"] => "192.0.2.7 https" }.each do |trust, found|
      with_socket(trust: trust) { |path| assert_equal found, ask(path, REQUEST).body }
    end
    with_socket(trust: %w[unix 10.0.0.0/8], proxy_protocol: true) do |path|
      assert_equal "192.0.2.1 http", ask(path, v1("192.0.2.1") + REQUEST).body
      assert_equal "192.0.2.7 https", ask(path, v2("10.0.0.1") + REQUEST).body
      assert_equal "192.0.2.7 https", ask(path, local + REQUEST).body
      # The name of a Unix socket at the proxy is not this machine's.
      assert_equal "127.0.0.1 http", ask(path, block(0x21, 0x31, "\0" * 216) + REQUEST).body
    end
  end

  def test_without_trust_nothing_of_this_happens
    each_way(trust: "none") do |server|
      seen = ask(server.port, REQUEST)
      assert_equal "127.0.0.1 http", seen.body
      assert_equal 400, ask(server.port, v1("192.0.2.1") + REQUEST).status
    end
  end

  # A connection has the time for a head to become one of a client.
  def test_a_header_that_does_not_come
    each_way(trust: ["127.0.0.1"], proxy_protocol: true, header_timeout: 0.05) do |server|
      ["", "PROXY TCP4 192.0.2.1", SIGNATURE, v1("192.0.2.1")].each do |octets|
        WireClient.open(server.port) { |client| assert_equal :closed, client.write(octets).ending, octets }
      end
      WireClient.open(server.port) do |client|
        assert_equal 408, client.write(v1("192.0.2.1") + REQUEST.byteslice(0, 20)).response.status
      end
      assert_equal 0, server.stats.fetch(:unproxied)
    end
  end

  # RFC 9110, 7.4. Others get a 421.
  def test_an_https_resource_that_a_proxy_asks_for
    request = "GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n"
    each_way(trust: ["127.0.0.1"], proxy_protocol: true) do |server|
      found = [local, v1("192.0.2.1"), v2("192.0.2.1", tls)].map { |header| ask(server.port, header + request).status }
      assert_equal [200, 421, 200], found
      assert_equal 421, WireClient.open(server.port, from: "127.0.0.2") { |client| client.ask(request) }.status
    end
  end

  # The header is read before a parser in Ruby gets the request.
  def test_parsers_in_ruby
    each_way(trust: ["127.0.0.1"], proxy_protocol: true, parser: "pure") do |server|
      assert_equal "192.0.2.1 http", WireClient.open(server.port) { |client|
        client.dribble(v1("192.0.2.1") + REQUEST).response
      }.body
      assert_equal 421, ask(server.port, "#{v1("192.0.2.1")}GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n").status
    end
  end

  # Where the listener is for both families, an IPv4 address is one of them.
  def test_networks_of_ipv4_on_a_listener_of_ipv6
    each_way(trust: ["127.0.0.0/31", "::1"], binds: ["tcp://[::]:0"]) do |server|
      assert_equal "192.0.2.7 https", ask(server.port, REQUEST).body
      from_stranger = WireClient.open(server.port, from: "127.0.0.2") { |client| client.ask(REQUEST) }
      assert_includes ["::ffff:127.0.0.2 http", "127.0.0.2 http"], from_stranger.body # the latter on the JVM
    end
  end

  # With the same names from both, often enough for what is remembered of names (usual.h).
  def test_peers_that_are_trusted_and_others_by_turns
    app = ->(env) { [200, {}, [env.values_at("REMOTE_ADDR", "HTTP_X_FORWARDED_FOR").inspect]] }
    each_way(app, trust: ["127.0.0.1"]) do |server|
      [20, 20, 1, 1, 2, 2].each do |times|
        { nil => %w[192.0.2.7 192.0.2.7], "127.0.0.2" => ["127.0.0.2", nil] }.each do |from, seen|
          WireClient.open(server.port, from: from) do |client|
            times.times { assert_equal seen.inspect, client.ask(REQUEST).body }
          end
        end
      end
    end
  end

  def test_the_log_names_the_client
    log = told_of do
      each_way(trust: ["127.0.0.1", "10.0.0.1"], proxy_protocol: true, log_requests: true) do |server|
        [v1("192.0.2.1"), v2("10.0.0.1")].each { |header| ask(server.port, header + REQUEST) }
      end
    end
    named = log.lines.map { |line| line[/\S+/] } # in any order: threads log after they answer
    assert_equal [%w[192.0.2.1 192.0.2.7]] * HttpCase::WAYS.size, named.each_slice(2).map(&:sort)
  end

  def test_what_a_core_takes
    HttpCase::CORES.each do |name|
      core = Cuttle::Cores.fetch(name)
      [core::Poller, core::Acceptor].each do |source|
        source.new([], trust: %w[::/0 0.0.0.0/0 unix ::ffff:1.2.3.4/128], proxy_protocol: true)
        ["x", "1.2.3", "1.2.3.4/33", "::/129", "1.2.3.4/", "/8", "1.2.3.4/-1", "1.2.3.4/1234", ""].each do |word|
          error = assert_raises(ArgumentError) { source.new([], trust: ["::1", word]) }
          assert_equal "trust: not an address or a network: #{word.inspect}", error.message
        end
      end
    end
  end

  private

  def each_way(app = APP, **options, &block)
    HttpCase::WAYS.each { |core, engine| serving(app, core: core, engine: engine, **options, &block) }
  end

  def with_socket(**options)
    Dir.mktmpdir { |directory| each_way(binds: ["unix://#{directory}/s"], **options) { yield "#{directory}/s" } }
  end

  def ask(address, octets)
    WireClient.open(address) { |client| client.ask(octets) }
  end

  # What servers that the block starts and stops write to their request logs.
  def told_of
    Tempfile.create("log") do |file|
      before, $stdout = $stdout, file
      yield
      File.read(file.path)
    ensure
      $stdout = before
    end
  end
end
