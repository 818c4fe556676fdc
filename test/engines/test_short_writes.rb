# frozen_string_literal: true

require "test_helper"

# A system that takes a few octets of each write (support/short_writes.c): every octet of every response arrives once
# and in order, under every engine, with both cores and through TLS. The sockets are not full then, so they are not
# reported as writable again: code that stops at a short write waits forever.
class TestShortWrites < Minitest::Test
  include Serving

  SOURCE = File.expand_path("support/short_writes.c", __dir__)
  APP = "test/engines/support/short_writes.ru"
  LARGE = Random.new(1).bytes(150_000).freeze
  PATIENT = %w[--request-timeout 600 --write-timeout 600 --min-rate 0].freeze

  ENGINES.product(%w[plain tls]).push(%w[hybrid pure], %w[threads pure]).each do |engine, way|
    define_method("test_every_octet_arrives_once_under_#{engine}_#{way}") do
      serve(engine, way) do |server|
        count = engine == "single" ? 1 : 3 # it ends a kept connection for the next client
        Array.new(count) { Thread.new { with_client(server, way) { |client| assert_whole client } } }.each(&:join)
      end
    end
  end

  private

  def serve(engine, way)
    skip "no Linux, or no compiler, to shorten writes with" unless Preload.library(SOURCE)
    skip "built without OpenSSL" if way == "tls" && !Cuttle::Cores.fetch("native").tls

    Dir.mktmpdir("cuttle") do |directory|
      cut = "#{directory}/cut"
      flags = ["--engine", engine, "--keep-alive", "--early-hints", *PATIENT, *(%w[--core pure] if way == "pure"),
               *(["-b", TlsFiles.uri] if way == "tls")]
      serving_process(APP, *flags, env: { "CUTTLE_SHORTENED" => cut, **Preload.env(SOURCE) }) do |server|
        assert server.running?, server.err
        yield server
        assert_path_exists cut, "no write was cut"
        assert_equal 0, server.stop.exitstatus, server.err
      end
    end
  end

  def with_client(server, way, &block)
    tls = { ca: TlsFiles.authority.cert_path } if way == "tls"
    WireClient.open(server.port, deadline: 60, tls: tls, &block)
  end

  # All on one connection, so that a lost or surplus octet breaks what follows.
  def assert_whole(client)
    %w[/large /parts /stream /file].each do |path|
      assert_equal LARGE, client.ask(get(path)).body, path
      assert_equal "hello", client.ask(get("/")).body
      assert_empty client.ask(get(path).sub("GET", "HEAD"), head: true).body
    end
    assert_equal "hinted", client.ask(get("/hints")).body
    head = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: #{LARGE.bytesize}\r\n\r\n"
    assert_equal LARGE, client.ask(head.b + LARGE).body
    client.write(get("/") * 5)
    5.times { assert_equal "hello", client.response.body }
    assert_equal 400, client.ask("no request\r\n\r\n").status
    assert_equal :closed, client.ending
  end

  def get(path) = "GET #{path} HTTP/1.1\r\nHost: a\r\n\r\n"
end
