# frozen_string_literal: true

require "test_helper"

# An error of a Rack app never breaks the wire: whatever it returns or raises, the client reads complete, well-formed
# messages or sees the connection close inside one, and the server continues to serve. Cases 121 to 138.
class TestAppErrors < HttpCase
  def test_case_121_nil_body
    app { [200, {}, nil] }
    assert_one_500
  end

  def test_case_122_a_body_with_neither_each_nor_call
    app { [200, {}, Object.new] }
    assert_one_500
    app { [200, { "content-length" => "3" }, 42] }
    assert_one_500
  end

  def test_case_123_each_raises_in_the_stream
    body = Bodies::Parts.new("first", "second", error: "halfway")
    app { [200, {}, body] }
    assert_cut_off(/first/)
    assert_closed body
  end

  def test_case_123_each_raises_under_a_length
    app { [200, { "content-length" => "100" }, Bodies::Parts.new("first", error: "halfway")] }
    assert_cut_off(/first|\A\z/)
  end

  def test_each_that_raises_before_its_first_part_is_a_500
    app { [200, {}, Bodies::Parts.new(error: "at once")] }
    open_client do |client|
      bytes = client.write(closing).rest
      assert_match(%r{\AHTTP/1\.1 (500 |200 (?!.*\r\n0\r\n\r\n))}mn, bytes)
      assert_equal 1, bytes.scan("HTTP/1.").size
    end
    assert_alive
  end

  def test_case_124_length_too_large
    [["hello"], Bodies::Parts.new("hel", "lo")].each do |body|
      app { [200, { "content-length" => "10" }, body] }
      open_client do |client|
        bytes = client.write(request + request).rest
        refute_match(/hello.*HTTP/mn, bytes, "the next response counts as the rest of this one")
      end
      assert_alive
    end
  end

  def test_case_125_length_too_small
    [["hello"], ["hel", "lo"], Bodies::Parts.new("hello"), Bodies::Parts.new("hel", "lo")].each do |body|
      app { [200, { "content-length" => "3" }, body] }
      open_client do |client|
        response = client.ask(request)
        next assert_equal 500, response.status unless response.status == 200

        assert_equal "hel", response.body
        app { [200, {}, ["next"]] }
        assert_next_or_end client
      end
    end
  end

  def test_case_126_length_that_is_no_number
    ["abc", "-1", "+5", "5,5", "0x5", " ", "", "5 5", (2**64).to_s].each do |length|
      app { [200, { "content-length" => length }, ["hello"]] }
      assert_one_500
    end
  end

  def test_case_127_crlf_in_a_value
    assert_not_emitted({ "x-custom" => "a\r\nX-Injected: 1" })
    assert_not_emitted({ "x-custom" => "a\r\n\r\nowned" })
  end

  # Apps written for Rack 2 mean several fields by it: each part is a value of its own, or nothing is sent of it.
  def test_case_128_lf_in_a_value
    app { [200, { "x-custom" => "a\nX-Injected: 1" }, ["hello"]] }
    response = open_client { |client| client.ask(request) }
    unless response.status == 500
      assert_includes [[], ["a", "X-Injected: 1"]], response.all("x-custom")
      assert_empty response.all("x-injected")
    end
    assert_not_emitted({ "x-custom" => "a\nowned\0" })
    assert_not_emitted({ "x-custom" => "a\nowned\rX-Injected: 1" })
  end

  def test_case_129_cr_and_nul_in_a_value
    assert_not_emitted({ "x-custom" => "a\rX-Injected: 1" })
    assert_not_emitted({ "x-custom" => "a\0b" })
    assert_not_emitted({ "x-custom" => ["fine", "a\r\nX-Injected: 1"] })
  end

  def test_case_130_crlf_in_a_key
    assert_not_emitted({ "x-custom\r\nX-Injected" => "1" })
    assert_not_emitted({ "x-custom: a\r\nX-Injected" => "1" })
  end

  def test_a_key_that_is_no_token_is_not_emitted
    ["", "a b", "a:b", "\xC3\xA4", "a\0", "a\n"].each { |key| assert_not_emitted({ key => "owned" }) }
  end

  def test_case_131_an_array_is_repeated_fields
    app { [200, { "set-cookie" => ["a=1; path=/", "b=2"], "x-one" => ["1"] }, ["ok"]] }
    response = open_client { |client| client.ask(request) }
    assert_equal ["a=1; path=/", "b=2"], response.all("set-cookie")
    assert_equal ["1"], response.all("x-one")
  end

  def test_case_132_head_has_no_body
    [["hello"], Bodies::Parts.new("hel", "lo")].each do |body|
      app { [200, { "content-length" => "5" }, body] }
      open_client do |client|
        response = client.ask(request("HEAD / HTTP/1.1"), head: true)
        assert_equal [200, "5"], [response.status, response["content-length"]]
        app { [200, {}, ["next"]] }
        assert_equal "next", client.ask(request).body
      end
    end
  end

  def test_case_132_204_and_304_have_no_body
    [204, 304].product([["hello"], Bodies::Parts.new("hel", "lo")]) do |status, body|
      app { [status, {}, body] }
      open_client do |client|
        assert_equal status, client.ask(request).status
        app { [200, {}, ["next"]] }
        assert_equal "next", client.ask(request).body
      end
    end
  end

  def test_case_132_204_with_a_length
    app { [204, { "content-length" => "5" }, ["hello"]] }
    open_client do |client|
      response = client.ask(request)
      next assert_equal 500, response.status unless response.status == 204

      app { [200, {}, ["next"]] }
      assert_equal "next", client.ask(request).body
    end
  end

  def test_case_133_a_status_that_is_no_final_one
    [0, "abc", 100, nil, -200, 99, 1_000, Object.new].each do |status|
      app { [status, {}, ["hello"]] }
      assert_one_500 "status #{status.inspect}"
    end
  end

  def test_case_134_whatever_is_raised_is_a_500
    [-> { raise "oops" }, -> { throw :nowhere }, -> { raise Exception, "oops" }, -> { raise NotImplementedError },
     -> { raise SystemStackError }, -> { raise NoMemoryError }, -> { exit }].each do |failure|
      app { failure.call }
      assert_one_500
    end
  end

  def test_case_135_no_triple
    [nil, [200, {}], [], 42, "text", [200, nil, ["hello"]], [200, [["a", "b"]], nil]].each do |answer|
      app { answer }
      assert_one_500 answer.inspect
    end
  end

  def test_case_136_a_hijacked_socket_is_never_touched_again
    taken = Queue.new
    app do |env|
      taken << env["rack.hijack"].call
      [200, { "x-ignored" => "yes" }, ["ignored"]]
    end
    open_client do |client|
      io = client.write(request).then { taken.pop }
      assert_alive # the app has returned by now, or will not for lack of anything to wait for
      refute client.heard?(0.1), "the server wrote to a hijacked socket: #{client.buffered}"
      client.write(request("GET /mine HTTP/1.1"))
      assert_equal request("GET /mine HTTP/1.1"), io.readpartial(1_000)
      io.write("raw\r\n")
      assert_equal "raw", client.line
      io.close
      assert_equal :closed, client.ending
    end
  end

  def test_case_137_each_goes_before_call
    body = Bodies::Parts.new("each")
    body.define_singleton_method(:call) { |stream| stream.write("call") }
    app { [200, {}, body] }
    assert_equal "each", open_client { |client| client.ask(request) }.body
  end

  def test_case_138_close_exactly_once
    [["GET", 200, {}], ["GET", 200, { "content-length" => "5" }], ["HEAD", 200, {}], ["GET", 304, {}],
     ["GET", 204, {}], ["GET", 0, {}], ["GET", 200, { "x" => "\r\n" }], ["GET", 200, { "content-length" => "9" }]]
      .each { |method, status, headers| assert_closed_once(Bodies::Parts.new("hel", "lo"), method, status, headers) }
  end

  def test_case_138_close_exactly_once_when_each_raises
    assert_closed_once(Bodies::Parts.new("hello", error: "halfway"))
    assert_closed_once(Bodies::Parts.new(error: "at once"))
    assert_closed_once(Bodies::Parts.new("hello", error: Exception.new("halfway")))
    assert_closed_once(Bodies::Parts.new(Object.new))
    assert_closed_once(Bodies::Parts.new(nil))
  end

  def test_case_138_close_exactly_once_when_the_client_aborts
    body = Bodies::Parts.new
    body.define_singleton_method(:each) { |&block| 100_000.times { block.call("x" * 10_000) } }
    app { [200, {}, body] }
    open_client(receive_buffer: 4_096) do |client|
      client.write(request)
      assert client.heard?(PATIENCE)
      client.reset
    end
    assert_closed body
  end

  def test_a_close_that_raises_harms_nobody
    body = Bodies::Parts.new("hello")
    body.define_singleton_method(:close) do
      super()
      raise "in close"
    end
    app { [200, { "content-length" => "5" }, body] }
    assert_equal "hello", open_client { |client| client.ask(request) }.body
    assert_closed body
  end

  def test_parts_that_are_no_strings_break_no_framing
    [[nil], [42], ["a", :b], [["a"]]].each do |parts|
      [parts, Bodies::Parts.new(*parts)].each do |body|
        app { [200, {}, body] }
        bytes = open_client { |client| client.write(closing).rest }
        assert_equal 1, bytes.scan("HTTP/1.").size, parts.inspect
        assert_match(%r{\AHTTP/1\.1 (500|200)}, bytes)
        assert_alive
      end
    end
  end

  def test_an_apps_own_framing_fields_do_not_frame
    [{ "transfer-encoding" => "chunked" }, { "transfer-encoding" => "gzip" },
     { "transfer-encoding" => "chunked", "content-length" => "5" },
     { "content-length" => %w[5 5] }, { "Content-Length" => "5", "content-length" => "6" }].each do |headers|
      app { [200, headers, ["hello"]] }
      open_client do |client|
        response = client.ask(request)
        next if response.status == 500

        assert_includes ["hello", "5\r\nhello\r\n0\r\n\r\n"], response.body, headers.inspect
        app { [200, {}, ["next"]] }
        assert_next_or_end client
      end
    end
  end

  private

  # After its answer the server closes, so that all that comes can be read.
  def closing = request("GET / HTTP/1.1", "Connection: close")

  # One whole response with status 500, and nothing more; the server lives.
  def assert_one_500(message = nil)
    open_client do |client|
      assert_equal 500, client.ask(request).status, message
      app { [200, {}, ["next"]] }
      assert_next_or_end client
    end
    assert_alive
  end

  # A 200 that ends too early, as the connection's end shows; it contains no second status line.
  def assert_cut_off(content)
    open_client do |client|
      bytes = client.write(request).rest
      assert_match(%r{\AHTTP/1\.1 200 }, bytes)
      assert_match content, bytes[/\r\n\r\n(.*)/mn, 1]
      assert_equal 1, bytes.scan("HTTP/1.").size, bytes
      refute bytes.end_with?("\r\n0\r\n\r\n"), "the last chunk was sent"
    end
    assert_alive
  end

  # The connection carries on with a whole response, or has ended; nothing else.
  def assert_next_or_end(client)
    assert_equal "next", client.ask(request).body
  rescue WireClient::Truncated => error
    assert_empty error.received
  end

  # A 500, or a 200 without the invalid part of its fields.
  def assert_not_emitted(headers)
    app { [200, headers, ["hello"]] }
    response = open_client { |client| client.ask(request) }
    return assert_equal 500, response.status, headers.inspect unless response.status == 200

    assert_equal "hello", response.body
    assert_empty response.fields.select { |field| field.join("\n").match?(/x-injected|owned/i) }, headers.inspect
    assert_alive
  end

  def assert_closed_once(body, method = "GET", status = 200, headers = {})
    app { [status, headers, body] }
    open_client { |client| client.write(request("#{method} / HTTP/1.1", "Connection: close")).rest }
    assert_closed body, 1, [method, status, headers].inspect
  end
end
