# frozen_string_literal: true

require "test_helper"

# What an operator allows beyond, or less than, the usual: --max-body and --underscore-headers, over both sides of the
# core and with the parser in C and one in Ruby. Those of connections are in test/contracts/engine/limits.rb, those of
# temporary files in test/engines/test_spool.rb.
module BodyLimit
  # Above what is kept in memory, so that a body that grows too large may be on the disk by then.
  MOST = 100_000

  def self.included(suite)
    suite.define_singleton_method(:server_options) do
      { max_body: MOST, parser: core == "native" ? suite::PARSER : core }
    end
  end

  def announced(size, *lines, body: "") = request("POST / HTTP/1.1", "Content-Length: #{size}", *lines, body: body)

  def chunk(octets) = "#{octets.bytesize.to_s(16)}\r\n#{octets}\r\n"

  # All that is allowed.
  def test_a_body_of_the_limits_size_is_taken
    seen, = assert_served(announced(MOST, body: "z" * MOST))
    assert_equal MOST, seen.body.bytesize
    seen, = assert_served(chunked("#{chunk("z" * 60_000)}#{chunk("z" * (MOST - 60_000))}0\r\n\r\n"))
    assert_equal MOST, seen.body.bytesize
  end

  # Before an octet of it is read; also where the client waits for a 100, which it doesn't get.
  def test_a_body_that_is_announced_as_too_large_is_refused_by_its_head
    [[], ["Expect: 100-continue"]].each { |lines| assert_refused announced(MOST + 1, *lines), with: 413 }
    assert_refused announced((1 << 63) - 1), with: 413
  end

  def test_a_body_in_chunks_is_refused_by_its_first_octet_too_many
    open_client do |client|
      client.write(chunked("#{chunk("z" * MOST)}5\r\n"))
      refute client.heard?(0.2), client.buffered
      assert_equal 413, client.write("z").response.status
      assert_includes %i[closed reset], client.half_close.ending
    end
    assert_empty recorder.seen
  end

  # Its client has received a 100 (Continue).
  def test_a_body_in_chunks_that_a_client_has_asked_for
    open_client do |client|
      client.write(chunked("", "Expect: 100-continue"))
      assert_equal 100, client.response.status
      response = client.write(chunk("z" * 60_000) * 2).response
      assert_equal [413, true], [response.status, response.close?]
    end
    assert_empty recorder.seen
  end

  # Whatever it looks like: it may be the body.
  def test_what_follows_on_the_connection_is_no_request
    open_client do |client|
      client.write(announced(MOST + 1, body: request("GET /inside HTTP/1.1")) + request("GET /behind HTTP/1.1"))
      assert_equal 413, client.response.status
      assert_equal :closed, client.half_close.ending
    end
    open_client do |client|
      client.write(chunked("#{chunk("z" * (MOST + 1))}0\r\n\r\n") + request("GET /behind HTTP/1.1"))
      assert_equal 413, client.response.status
      assert_includes %i[closed reset], client.half_close.ending
    end
    assert_empty recorder.seen
  end

  # A client that sends its whole body before it reads must find the answer, and no reset in its place.
  def test_a_client_that_sends_everything_first_reads_the_413
    body = "z" * (20 * MOST)
    [announced(body.bytesize, body: body), chunked("#{chunk(body)}0\r\n\r\n")].each do |bytes|
      response = open_client { |client| client.write(bytes).response }
      assert_equal [413, true], [response.status, response.close?]
    end
  end

  def test_a_refused_head_request_has_no_body
    bytes = request("HEAD / HTTP/1.1", "Content-Length: #{MOST + 1}")
    response = open_client { |client| client.ask(bytes, head: true) }
    assert_equal 413, response.status
  end

  def test_requests_before_it_are_answered
    open_client do |client|
      client.write(request("GET /first HTTP/1.1") + announced(MOST + 1))
      assert_equal ["GET /first ", 413], [client.response.body, client.response.status]
    end
    assert_equal ["/first"], recorder.paths
  end
end

class TestBodyLimit < HttpCase
  PARSER = "native"
  include BodyLimit
end

class TestBodyLimitOfAParserInRuby < HttpCase
  PARSER = "pure"
  include BodyLimit
end

module Underscores
  def self.included(suite)
    suite.define_singleton_method(:server_options) do
      { underscore_headers: true, parser: core == "native" ? suite::PARSER : core }
    end
  end

  def seen_for(*lines, start: "GET / HTTP/1.1", body: "") = assert_served(request(start, *lines, body: body)).first

  def test_a_name_with_an_underscore_is_kept
    seen = seen_for("X_Foo: a", "x_bar-BAZ: b", "X_Empty:", "_: c")
    assert_equal ["a", "b", "", "c"], seen.env.values_at("HTTP_X_FOO", "HTTP_X_BAR_BAZ", "HTTP_X_EMPTY", "HTTP__")
  end

  # Wherever either stands, and however both are written.
  def test_a_name_with_dashes_wins
    [["X-Foo-Bar: dash", "X_Foo_Bar: underscore"], ["X_Foo_Bar: underscore", "X-Foo-Bar: dash"],
     ["x_foo-bar: a", "X_FOO_BAR: b", "x-FOO-bar: dash", "X-Foo_Bar: c"]].each do |lines|
      assert_equal "dash", seen_for(*lines)["HTTP_X_FOO_BAR"], lines.inspect
    end
    assert_equal "", seen_for("X_Foo: underscore", "X-Foo:")["HTTP_X_FOO"]
  end

  # RFC 9110, 5.3. All but the first were lost.
  def test_several_of_a_name_are_one_list
    assert_equal "a, b, c", seen_for("X_Foo: a", "X_Foo: b", "x_foo: c")["HTTP_X_FOO"]
    assert_equal "dash, too", seen_for("X_Foo: a", "X-Foo: dash", "X_Foo: b", "X-Foo: too")["HTTP_X_FOO"]
  end

  # Nor do they become variables that pass for them.
  def test_neither_framing_nor_content_type_are_taken_from_them
    seen = seen_for("Content_Type: text/evil", "Transfer_Encoding: chunked", "CONTENT_LENGTH: 3", "content_type: a")
    assert_empty seen.env.keys & %w[CONTENT_TYPE HTTP_CONTENT_TYPE HTTP_TRANSFER_ENCODING HTTP_CONTENT_LENGTH]
    assert_includes [nil, "0"], seen["CONTENT_LENGTH"]
    open_client do |client|
      client.write(request("POST /first HTTP/1.1", "Content_Length: 500", body: request("GET /next HTTP/1.1")))
      assert_equal ["POST /first ", "GET /next "], [client.response.body, client.response.body]
    end
  end

  def test_beside_the_framing_they_change_nothing
    lines = ["Content-Length: 5", "Content_Length: 2", "Transfer_Encoding: chunked", "Content-Type: text/plain"]
    seen = seen_for(*lines, "Content_Type: text/evil", start: "POST / HTTP/1.1", body: "hello")
    assert_equal %w[hello 5 text/plain], [seen.body, *seen.env.values_at("CONTENT_LENGTH", "CONTENT_TYPE")]
  end

  # A client could make its request look older than it is, and no router sends this one.
  def test_no_time_in_the_queue_is_taken_from_them
    assert_operator seen_for("X_Request_Start: t=#{Time.now.to_f - 100}")["cuttle.queue_time"], :<, 90
  end
end

class TestUnderscores < HttpCase
  PARSER = "native"
  include Underscores
end

class TestUnderscoresOfAParserInRuby < HttpCase
  PARSER = "pure"
  include Underscores
end
