# frozen_string_literal: true

require "test_helper"
require "rack"
require "tempfile"

# The Rack SPEC, as the server's side of it: what the app is given. Every app runs inside Rack::Lint; the suite is the
# same under Rack 3 and 2.2 (environment variable CUTTLE_RACK), but for what only one of them has.
class TestRackRequest < HttpCase
  # What the name of a descriptor's file ends with that has no name, as the file of a body. (JRuby opens others for
  # itself, and this process may have files of its parent's, which removes them at any time.)
  GONE = " (deleted)"

  RACK3 = Gem::Version.new(Rack.release) >= Gem::Version.new("3")

  def seen_for(bytes) = assert_served(bytes).first

  def texts(seen) = seen.env.select { |_, value| value.is_a?(String) }

  def test_the_request_line_and_fields
    seen = seen_for(request("PUT /a%20b/%2F?x=%20y&z HTTP/1.1", "X-Foo: bar", "Content-Type: text/plain",
                            "Content-Length: 2", body: "hi"))
    { "REQUEST_METHOD" => "PUT", "SCRIPT_NAME" => "", "PATH_INFO" => "/a%20b/%2F", "QUERY_STRING" => "x=%20y&z",
      "SERVER_PROTOCOL" => "HTTP/1.1", "HTTP_X_FOO" => "bar", "CONTENT_TYPE" => "text/plain", "CONTENT_LENGTH" => "2",
      "REMOTE_ADDR" => "127.0.0.1", "rack.url_scheme" => "http" }
      .each { |key, value| assert_equal value, seen[key], key }
    refute seen.env.key?("HTTP_CONTENT_TYPE") || seen.env.key?("HTTP_CONTENT_LENGTH")
  end

  def test_an_empty_query_and_none
    assert_equal "", seen_for(request("GET / HTTP/1.1"))["QUERY_STRING"]
    assert_equal "", seen_for(request("GET /? HTTP/1.1"))["QUERY_STRING"]
    assert_equal "a?b", seen_for(request("GET /?a?b HTTP/1.1"))["QUERY_STRING"]
  end

  def test_repeated_fields_are_joined
    assert_equal "a, b", seen_for(request("GET / HTTP/1.1", "X-Foo: a", "X-Foo: b"))["HTTP_X_FOO"]
  end

  def test_http_1_0
    assert_equal "HTTP/1.0", seen_for("GET / HTTP/1.0\r\nHost: a\r\n\r\n")["SERVER_PROTOCOL"]
  end

  def test_no_env_is_another_requests
    first = seen_for(request("GET / HTTP/1.1", "X-Foo: bar"))
    first.env["test.mark"] = "left behind"
    texts(first).each { |_, value| value << "changed" unless value.frozen? }
    second = seen_for(request)
    refute_same first.env, second.env
    assert_equal [nil, nil, "example.test"], [second["HTTP_X_FOO"], second["test.mark"], second["SERVER_NAME"]]
    assert_empty(texts(second).select { |_, value| value.include?("changed") })
  end

  # An app that changes one changes no other. (Rack 2's Lint refuses the path "*".)
  def test_the_values_of_an_env_are_apart
    starts = ["GET / HTTP/1.1", "GET http://example.test HTTP/1.1", *("OPTIONS * HTTP/1.1" if RACK3)]
    starts.each do |start|
      values = texts(seen_for(request(start))).values.reject(&:frozen?)
      assert_operator values.length, :>, 1
      assert_equal values.length, values.uniq(&:object_id).length, start
    end
  end

  # Each is what a browser would show for the request.
  def test_the_url_that_was_asked_for
    { "GET /a?b HTTP/1.1\r\nHost: example.test" => "http://example.test/a?b",
      "GET / HTTP/1.1\r\nHost: example.test:8080" => "http://example.test:8080/",
      "GET / HTTP/1.1\r\nHost: example.test:80" => "http://example.test/",
      "GET / HTTP/1.1\r\nHost: 10.0.0.1:1" => "http://10.0.0.1:1/",
      "GET / HTTP/1.1\r\nHost: [::1]:8080" => "http://[::1]:8080/",
      "GET / HTTP/1.1\r\nHost: [2001:db8::1]" => "http://[2001:db8::1]/",
      "GET http://other.test/a?b HTTP/1.1\r\nHost: example.test" => "http://other.test/a?b",
      "GET http://other.test:81 HTTP/1.1\r\nHost: example.test" => "http://other.test:81/",
      "GET HTTP://[::1]:81/ HTTP/1.1\r\nHost: example.test:80" => "http://[::1]:81/" }
      .each { |head, url| assert_equal url, Rack::Request.new(seen_for("#{head}\r\n\r\n").env).url, head }
  end

  def test_server_name_and_port
    { "example.test" => %w[example.test 80], "example.test:8080" => %w[example.test 8080], "[::1]:81" => %w[[::1] 81],
      "example.test:" => %w[example.test 80] }
      .each do |host, expected|
        seen = seen_for("GET / HTTP/1.1\r\nHost: #{host}\r\n\r\n")
        assert_equal expected, [seen["SERVER_NAME"], seen["SERVER_PORT"]], host
      end
  end

  def test_what_the_server_offers
    env = seen_for(request).env
    assert env["rack.hijack?"]
    assert_respond_to env["rack.hijack"], :call
    assert_respond_to env["rack.early_hints"], :call
    assert_kind_of Array, env["rack.response_finished"] if RACK3
    assert_equal [true, false], env.values_at("rack.multithread", "rack.multiprocess")
    assert_equal false, env["rack.run_once"] unless RACK3
  end

  # The body's size makes the difference between memory and a file.
  { "small" => 11, "spooled" => 300_000 }.each do |kind, size|
    define_method("test_input_#{kind}_read_whole_and_in_pieces") do
      body = text(size)
      with_input(body) do |input|
        assert_equal body, input.read
        assert_equal ["", nil], [input.read, input.read(5)]
        next unless input.respond_to?(:rewind)

        input.rewind
        buffer = +"old"
        assert_equal [body[0, 5], "", body[5, 3]], [input.read(5), input.read(0), input.read(3, buffer)]
        assert_equal body[5, 3], buffer
        assert_equal body[8..], input.read(nil)
        assert_nil input.read(1, buffer)
        assert_equal "", buffer
      end
    end

    define_method("test_input_#{kind}_by_lines") do
      body = text(size)
      with_input(body) do |input|
        assert_equal body.lines, Array.new(body.lines.size) { input.gets } + [input.gets].compact
      end
      with_input(body) { |input| assert_equal body, [].tap { |all| input.each { |line| all << line } }.join }
    end

    define_method("test_input_#{kind}_is_binary") do
      body = "\xC3\xA9\xFF\0".b * (size / 4)
      with_input(body) do |input|
        read = input.read
        assert_equal [body, Encoding::BINARY], [read, read.encoding]
      end
    end

    define_method("test_input_#{kind}_in_chunks") do
      body = text(size)
      chunks = body.scan(/.{1,5000}/m).map { |part| "#{part.bytesize.to_s(16)}\r\n#{part}\r\n" }
      seen = seen_for(chunked("#{chunks.join}0\r\n\r\n"))
      assert_equal body, seen.body
    end
  end

  # As Rails sets it. A StringIO takes both defaults where they are the same.
  def test_the_input_is_binary_whatever_the_default_encodings
    verbose, $VERBOSE = $VERBOSE, nil
    internal, Encoding.default_internal = Encoding.default_internal, Encoding.default_external
    seen = nil
    app { |env| (seen = [env["rack.input"].external_encoding, env["rack.input"].read]) && [200, {}, []] }
    open_client { |client| client.ask(request("POST / HTTP/1.1", "Content-Length: 2", body: "\xC3\xA4")) }
    assert_equal [Encoding::BINARY, "\xC3\xA4".b], seen
  ensure
    Encoding.default_internal = internal
    $VERBOSE = verbose
  end

  def test_no_body_is_an_empty_input
    with_input("", fields: []) do |input|
      next if input.nil? && RACK3

      assert_equal ["", nil, nil, ""], [input.read, input.read(1), input.gets, input.read(0)]
      input.each { flunk "a line of nothing" }
    end
  end

  # What the app leaves unread is not the next request.
  def test_a_large_body_left_unread
    open_client do |client|
      body = (request * 10_000)[0, 300_000]
      client.write(request("POST /unread HTTP/1.1", "Content-Length: 300000",
                           body: body) + request("GET /next HTTP/1.1"))
      assert_equal ["POST /unread ", "GET /next "], [client.response.body, client.response.body]
    end
  end

  def test_an_upload_through_racks_own_parser
    form = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.bin\"\r\n\r\n#{text(200_000)}\r\n--b--\r\n"
    app do |env|
      upload = Rack::Request.new(env).params["f"]
      [200, { "content-type" => "text/plain" }, ["#{upload[:filename]} #{upload[:tempfile].size}"]]
    end
    bytes = request("POST / HTTP/1.1", "Content-Type: multipart/form-data; boundary=b",
                    "Content-Length: #{form.bytesize}", body: form)
    assert_equal "a.bin 200000", open_client { |client| client.ask(bytes) }.body
  end

  def test_spooled_bodies_leave_no_descriptors
    body = text(300_000)
    bytes = request("POST / HTTP/1.1", "Content-Length: #{body.bytesize}", body: body)
    assert_served(bytes)
    before = open_files(/./)
    20.times { assert_served(bytes) }
    GC.start
    Eventually.eventually("closed spool files") { (open_files - before).length <= 1 }
  end

  def test_the_error_stream
    app do |env|
      env["rack.errors"].write("")
      env["rack.errors"].flush
      [200, { "content-type" => "text/plain" }, []]
    end
    assert_equal 200, open_client { |client| client.ask(request) }.status
  end

  private

  def text(size) = ("line of text\n" * (size / 13 + 1))[0, size].b

  # [number, file] of each descriptor whose file's name has that +form+.
  def open_files(form = /#{Regexp.escape(GONE)}\z/)
    Dir.children("/proc/self/fd").filter_map do |number|
      name = File.readlink("/proc/self/fd/#{number}")
      [number, name.delete_suffix(GONE)] if name.match?(form)
    rescue Errno::ENOENT
      nil # that of the list itself, or one that was closed meanwhile
    end
  end

  # Runs the block in the app, with the request's input; its failures are the test's.
  def with_input(body, fields: ["Content-Length: #{body.bytesize}"])
    failure = nil
    ran = false
    app_in_lint do |env|
      yield env["rack.input"]
      ran = true
      [200, { "content-type" => "text/plain" }, []]
    rescue Minitest::Assertion, StandardError => error
      failure = error
      raise
    end
    open_client { |client| client.ask(request("POST / HTTP/1.1", *fields, body: body)) }
    raise failure if failure

    assert ran, "the app was not called"
  end

  def app_in_lint(&block)
    self.class.app = Rack::Lint.new(block)
  end
end
