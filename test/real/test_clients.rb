# frozen_string_literal: true

require "stringio"
require "zlib"
require_relative "real"

# Programs that people use against servers, and Ruby's own client, on every engine alone and forked: hello first.
module HelloChecks
  include Real::Tools

  GREETING = "Hello, world!\n"

  def test_curl
    assert_equal GREETING, tool("curl", "-sS", server.url)
    assert_equal GREETING, tool("curl", "-sS", "--http1.0", server.url)
    assert_match(/^content-length: 14\r$/i, tool("curl", "-sSI", server.url))
  end

  def test_curl_uses_a_connection_again
    output = tool("curl", "-sSv", server.url, server.url)
    assert_equal 2, output.scan(GREETING).size
    assert_match(/re-using existing connection/i, output)
  end

  def test_net_http_uses_a_connection_again
    assert_equal [GREETING] * 5, one_connection { |http| Array.new(5) { http.get("/").body } }
  end

  def test_wrk
    output = tool("wrk", "-t1", "-d1s", "-c", way.connections(8), server.url)
    refute_match(/Socket errors|Non-2xx/, output)
    assert_operator output[/(\d+) requests in/, 1].to_i, :>, 0, output
  end

  # ab speaks HTTP/1.0 and asks for keep-alive.
  def test_ab
    output = tool("ab", "-q", "-k", "-n", 500, "-c", way.connections(8), "#{server.url}/")
    assert_match(/^Complete requests: +500$/, output)
    assert_match(/^Failed requests: +0$/, output)
    assert_match(/^Keep-Alive requests: +500$/, output)
    refute_match(/Non-2xx/, output)
  end

  def test_h2load
    assert_h2load "-n", 500, "-c", way.connections(8)
  end

  def test_h2load_pipelining
    assert_h2load "-n", 500, "-c", way.connections(8), "-m", 8
  end

  private

  def assert_h2load(*arguments)
    output = tool("h2load", "--h1", *arguments, server.url)
    assert_includes output, "500 succeeded, 0 failed, 0 errored, 0 timeout", output
    assert_match(/^status codes: 500 2xx, 0 3xx, 0 4xx, 0 5xx$/, output)
  end

  # What the block returns; Net::HTTP would open another connection silently where a server closes one.
  def one_connection
    talk = +""
    http = Net::HTTP.new("127.0.0.1", server.port)
    http.set_debug_output(talk)
    http.start { yield http }.tap { assert_equal 1, talk.scan("opening connection").size, talk }
  end
end

# Bodies that clients send.
module BodyChecks
  include Real::Tools

  # Beyond what a server keeps in memory; and it says where it was cut or put together wrongly.
  CONTENT = Random.new(7).bytes(700_000).freeze
  SUM = "#{CONTENT.bytesize} #{Zlib.crc32(CONTENT)}".freeze

  def test_net_http_sends_a_body
    assert_equal SUM, sum { |post| post.body = CONTENT }
  end

  def test_net_http_sends_chunks
    assert_equal SUM, sum { |post| stream(post, "transfer-encoding" => "chunked") }
  end

  def test_net_http_waits_for_100_continue
    talk = +""
    fields = { "content-length" => CONTENT.bytesize, "expect" => "100-continue" }
    assert_equal SUM, sum(talk) { |post| stream(post, fields) }
    assert_includes talk, "HTTP/1.1 100 Continue"
  end

  def test_curl_sends_a_body
    assert_equal SUM, tool("curl", "-sS", "--data-binary", "@-", "-H", "Expect:", "#{server.url}/sum",
                           stdin_data: CONTENT)
  end

  def test_curl_sends_chunks
    assert_equal SUM, tool("curl", "-sS", "-X", "POST", "-T", "-", "-H", "Expect:", "#{server.url}/sum",
                           stdin_data: CONTENT)
  end

  def test_curl_waits_for_100_continue
    output = tool("curl", "-sSv", "--data-binary", "@-", "-H", "Expect: 100-continue", "#{server.url}/sum",
                  stdin_data: CONTENT)
    assert_includes output, "< HTTP/1.1 100 Continue"
    assert_includes output, SUM
  end

  private

  def sum(talk = nil)
    post = Net::HTTP::Post.new("/sum", "content-type" => "application/octet-stream")
    yield post
    http = Net::HTTP.new("127.0.0.1", server.port)
    http.continue_timeout = Real::Web::LONGEST_WAIT
    http.set_debug_output(talk) if talk
    http.start { http.request(post).body }
  end

  def stream(post, fields)
    fields.each { |name, value| post[name] = value.to_s }
    post.body_stream = StringIO.new(CONTENT)
  end
end

class ClientsTest < Real::ServedTest
  for_each Real::WAYS, Real::HELLO, HelloChecks
  for_each Real::WAYS, Real::BODIES, BodyChecks
end
