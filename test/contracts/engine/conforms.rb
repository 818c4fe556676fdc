# frozen_string_literal: true

module EngineContract
  # What apps may answer with (Rack SPEC, The Response), as a client sees it: the cases of the project rack-conform.
  module Conforms
    def test_a_status_without_fields_or_content
      [200, 204, 304, 404, 503].each { |code| assert_equal code, response(get("/status?#{code}")).status }
    end

    def test_content_comes_back_by_the_input_as_the_body
      ["", "hello", "x" * 200_000].each { |content| assert_equal content, response(post("/echo_input", content)).body }
    end

    def test_a_field_of_the_request_comes_back
      assert_equal "text/x-odd", response(get("/echo_header", "Content-Type: text/x-odd"))["content-type"]
    end

    def test_each_value_of_a_field_has_a_line
      assert_equal %w[a=1 b=2], response(get("/cookies")).all("set-cookie")
    end

    def test_a_body_with_each_and_call_is_enumerated
      assert_equal "each of itself", response(get("/itself")).body
    end

    def test_options_of_a_target_and_of_the_server
      %w[/server *].each do |target|
        request = "OPTIONS #{target} HTTP/1.1\r\nHost: a\r\n\r\n"
        assert_equal "OPTIONS #{target}", response(request).body
      end
    end

    # RFC 9110, 4.2.3: only with OPTIONS, and without a query, is an empty path not "/".
    def test_a_target_without_a_path
      { "OPTIONS http://a" => "OPTIONS *", "OPTIONS http://a/" => "hello", "OPTIONS http://a?x" => "hello",
        "GET http://a" => "hello" }.each do |start, body|
        assert_equal body, response("#{start} HTTP/1.1\r\nHost: a\r\n\r\n").body, start
      end
    end

    def test_streams_from_an_enumerator_a_callable_body_and_a_hijack
      assert_equal "y" * 10_000, response(get("/stream?10000")).body
      assert_equal "hello stream", response(get("/greet_stream")).body
      client = connect.write(get("/greet_hijacked", "Connection: close"))
      assert_operator client.rest, :end_with?, "\r\n\r\nhello stream"
    end

    def test_another_protocol_on_the_same_connection
      client = connect.write(get("/upgrade", "Connection: upgrade", "Upgrade: capitals"))
      head = +""
      head << client.line << "\n" until head.end_with?("\n\n")
      assert_match(/\AHTTP\/1.1 101 .*^connection: upgrade$/mi, head)
      %w[one two].each { |word| assert_equal word.upcase, client.write(word).exactly(3) }
    end

    # The server reset the connection because of unread octets, and the client might have lost the response.
    def test_a_last_response_reaches_a_client_that_has_sent_more_meanwhile
      gate = "#{object_id}-more"
      client = connect.write(get("/hold?#{gate}", "Connection: close"))
      entered(gate)
      client.write(get("/"))
      open_gate(gate)
      assert_equal "held", client.response.body
      assert_equal :closed, client.ending
    end

    private

    def response(request) = connect.ask(request)
  end
end
