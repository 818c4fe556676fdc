# frozen_string_literal: true

require "test_helper"
require "rack"
require "tempfile"

# The Rack SPEC from the server's side: what the server makes of the app's answer. See test_rack.rb.
class TestRackResponse < HttpCase
  RACK3 = Gem::Version.new(Rack.release) >= Gem::Version.new("3")
  PLAIN = { "content-type" => "text/plain" }.freeze

  # Answers from inside Rack::Lint, so that nothing here is the app's fault.
  def lint(&block)
    self.class.app = Rack::Lint.new(block)
  end

  # Rack 2's Lint hides that a body is an Array, and its length with it.
  def known(length)
    length if RACK3
  end

  def answer(bytes = request, head: false) = open_client { |client| client.ask(bytes, head: head) }

  def test_status_fields_and_body
    lint { [201, PLAIN.merge("x-foo" => "bar", "x-empty" => ""), %w[a b c]] }
    response = answer
    assert_equal [201, "Created", "abc"], [response.status, response.reason, response.body]
    assert_equal ["text/plain", "bar", "", known("3")],
                 %w[content-type x-foo x-empty content-length].map { |name| response[name] }
  end

  def test_a_date_once
    lint { [200, PLAIN.dup, []] }
    assert_match(/\A\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\z/, answer["date"])
    lint { [200, PLAIN.merge("date" => "Thu, 01 Jan 1970 00:00:00 GMT"), []] }
    assert_equal ["Thu, 01 Jan 1970 00:00:00 GMT"], answer.all("date")
  end

  def test_an_unusual_status
    lint { [418, PLAIN.dup, ["short and stout"]] }
    assert_equal [418, "short and stout"], [answer.status, answer.body]
    lint { [599, PLAIN.dup, ["what"]] }
    assert_equal 599, answer.status
  end

  def test_the_apps_length_is_kept
    lint { [200, PLAIN.merge("content-length" => "5"), Bodies::Parts.new("hel", "lo")] }
    assert_equal ["5", "hello", :length], [answer["content-length"], answer.body, answer.framing]
  end

  def test_an_empty_body
    lint { [200, PLAIN.dup, []] }
    assert_equal [known("0"), ""], [answer["content-length"], answer.body]
  end

  def test_octets_are_counted_and_not_characters
    parts = ["h\u00e9llo", "\xFF\xFE".b, "\u65e5".encode("UTF-16LE")]
    app { [200, PLAIN.dup, parts] }
    assert_equal parts.map(&:b).join, answer.body
    app { [200, PLAIN.dup, Bodies::Parts.new(*parts)] }
    assert_equal parts.map(&:b).join, answer.body
  end

  def test_many_parts
    parts = Array.new(5_000) { |i| "part #{i}\n" }
    [parts, Bodies::Parts.new(*parts), Bodies::Parts.new("", *parts, "")].each do |body|
      app { [200, PLAIN.dup, body] }
      assert_equal parts.join, answer.body
    end
  end

  def test_a_large_body_to_a_slow_reader
    large = Random.new(1).bytes(5_000_000)
    app { [200, PLAIN.dup, [large]] }
    open_client(receive_buffer: 4_096) { |client| assert_equal large, client.ask(request).body }
  end

  def test_what_is_frozen_is_left_alone
    app { [200, { "x-foo" => "bar", "set-cookie" => %w[a=1 b=2].freeze }.freeze, ["hello"].freeze].freeze }
    response = answer
    assert_equal ["hello", %w[a=1 b=2]], [response.body, response.all("set-cookie")]
  end

  def test_headers_that_came_in_capitals
    app { [200, { "Content-Type" => "text/html", "Content-Length" => "5", "Connection" => "close" }, ["hello"]] }
    response = answer
    assert_equal [%w[text/html], %w[5], "hello", true],
                 [response.all("content-type"), response.all("content-length"), response.body, response.close?]
  end

  # With another body than an Array of Strings it was a 500.
  def test_rack_2_headers_that_yield_pairs
    pairs = [%w[x-foo bar], %w[Content-Length 5]]
    [["hello"], Bodies::Parts.new("hel", "lo")].product([pairs, pairs.each]) do |body, headers|
      app { [200, headers, body] }
      response = answer
      assert_equal [200, "bar", %w[5], "hello"],
                   [response.status, response["x-foo"], response.all("content-length"), response.body]
    end
    app { [200, [["rack.hijack", ->(io) { io.write("hello") && io.close }]], Bodies::Parts.new("ignored")] }
    assert_equal "hello", answer.body
  end

  def test_rack_2_newlines_are_several_fields
    app { [200, { "set-cookie" => "a=1\nb=2\nc=3" }, ["hello"]] }
    assert_equal %w[a=1 b=2 c=3], answer.all("set-cookie")
  end

  # As String#split does, which Rack 2 used.
  def test_rack_2_newlines_at_the_end_make_no_field
    app { [200, { "content-length" => "5\n", "location" => "/x\n\n", "x-a" => "\n", "x-b" => "1\n\n2" }, ["hello"]] }
    response = answer
    assert_equal [%w[5], %w[/x], [], ["1", "", "2"]],
                 %w[content-length location x-a x-b].map { |name| response.all(name) }
  end

  def test_what_is_for_the_server_is_not_sent
    app { [200, { "rack.private" => "x", "x-foo" => "bar" }, ["hello"]] }
    assert_empty answer.fields.select { |name, _| name.start_with?("rack.") }
  end

  def test_each_is_sent_as_it_is_made
    more = Queue.new
    body = Bodies::Parts.new
    body.define_singleton_method(:each) do |&part|
      3.times do |i|
        part.call("part #{i}")
        more.pop
      end
    end
    lint { [200, PLAIN.dup, body] }
    open_client do |client|
      client.write(request)
      client.fill until client.buffered.include?("part 0")
      refute_includes client.buffered, "part 1"
      3.times { more << true }
      assert_equal "part 0part 1part 2", client.response.body
    end
    assert_closed body
  end

  def test_to_ary
    body = Bodies::Parts.new("hel", "lo")
    body.define_singleton_method(:to_ary) { %w[hel lo].tap { close } }
    app { [200, PLAIN.dup, body] }
    assert_equal "hello", answer.body
  end

  def test_an_enumerator
    app { [200, PLAIN.dup, %w[a b c].each] }
    assert_equal "abc", answer.body
  end

  def test_chunks_are_not_for_http_1_0
    app { [200, PLAIN.dup, Bodies::Parts.new("hel", "lo")] }
    open_client do |client|
      response = client.ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      assert_equal [:close, "hello"], [response.framing, response.body]
    end
  end

  def test_to_path
    with_file(text = Random.new(2).bytes(1_000_000)) do |path|
      body = Bodies::OfFile.new(path, text)
      lint { [200, PLAIN.merge("content-length" => text.bytesize.to_s), body] }
      assert_equal text, answer.body
      assert_closed body
    end
  end

  def test_to_path_without_a_length_and_by_head
    with_file("hello") do |path|
      app { [200, PLAIN.dup, Bodies::OfFile.new(path, "hello")] }
      assert_equal "hello", answer.body
      open_client do |client|
        client.ask(request("HEAD / HTTP/1.1"), head: true)
        assert_equal "hello", client.ask(request).body
      end
    end
  end

  # A part of a file, as Rack::Files gives for a Range: the body knows which, the path doesn't.
  def test_to_path_of_a_part
    with_file("hello world") do |path|
      app do
        [206, PLAIN.merge("content-length" => "5", "content-range" => "bytes 6-10/11"),
         Bodies::OfFile.new(path, "world")]
      end
      assert_equal "world", answer.body
    end
  end

  def test_to_path_of_nothing_falls_back
    app { [200, PLAIN.dup, Bodies::OfFile.new("/nonexistent", "hello")] }
    assert_equal "hello", answer.body
    app { [200, PLAIN.dup, Bodies::OfFile.new(nil, "hello")] }
    assert_equal "hello", answer.body
  end

  # Each left the descriptor of a large file open, for good.
  def test_a_file_whose_head_is_refused_or_that_has_no_body_is_closed
    with_file("x" * 100_000) do |path|
      before = OpenFiles.count(path)
      { 500 => [200, { "x-field" => "a\0b" }], 304 => ["304", { "content-length" => "100000" }] }.each do |seen, head|
        app { [*head, Bodies::OfFile.new(path)] }
        assert_equal seen, answer.status
        eventually("a closed file after #{seen}") { OpenFiles.count(path) == before }
      end
    end
  end

  # As the block of a BodyProxy that asks for request.POST.
  def test_the_bodys_close_may_read_the_requests_input
    with_file("answer") do |path|
      [Bodies::Parts.new("answer"), Bodies::OfFile.new(path, "answer"),
       Bodies::Streaming.new { |stream| stream.write("answer") && stream.close }].each do |body|
        read = Queue.new
        note = ->(input) { read << attempt { input.read } }
        app do |env|
          body.define_singleton_method(:close) { note.call(env["rack.input"]) }
          [200, PLAIN.dup, body]
        end
        assert_equal "answer", answer(request("POST / HTTP/1.1", "Content-Length: 5", body: "hello")).body
        assert_equal "hello", read.pop, body.class
      end
    end
  end

  def test_racks_own_file_app
    with_file("hello world") do |path|
      self.class.app = Rack::Lint.new(Rack::Files.new(File.dirname(path)))
      name = File.basename(path)
      assert_equal "hello world", answer(request("GET /#{name} HTTP/1.1")).body
      response = answer(request("GET /#{name} HTTP/1.1", "Range: bytes=6-10"))
      assert_equal [206, "world"], [response.status, response.body]
      assert_equal 416, answer(request("GET /#{name} HTTP/1.1", "Range: bytes=20-")).status
    end
  end

  if RACK3
    def test_a_streaming_body
      body = Bodies::Streaming.new do |stream|
        stream.write("hel")
        stream << "l" << "o"
        stream.flush
        stream.close
      end
      lint { [200, PLAIN.dup, body] }
      open_client do |client|
        assert_equal "hello", client.ask(request).body
        assert_equal "hello", client.ask(request).body
      end
      assert_closed body, 2
      assert_predicate body.stream, :closed?
    end

    def test_a_stream_may_outlive_its_call
      go_on = Queue.new
      body = Bodies::Streaming.new { |stream| Thread.new { go_on.pop && stream.write("late") && stream.close } }
      lint { [200, PLAIN.dup, body] }
      open_client do |client|
        client.write(request)
        go_on << true
        assert_equal "late", client.response.body
        go_on << true
        assert_equal "late", client.ask(request).body
      end
    end

    # Where threads wait for connections, one waited for the end of the stream for ever.
    def test_a_stream_whose_client_has_gone_and_that_the_app_does_not_close
      errors = Queue.new
      writes = lambda do |stream|
        loop { stream.write("x" * 10_000) }
      rescue Cuttle::Disconnected
        nil
      end
      app do |env|
        env["rack.response_finished"] << ->(*args) { errors << args.last }
        [200, PLAIN.dup, Bodies::Streaming.new { |stream| Thread.new { writes.call(stream) } }]
      end
      open_client { |client| client.write(request).line && client.reset }
      eventually("the response's end") { !errors.empty? }
      assert_kind_of Cuttle::Disconnected, errors.pop
      assert_alive
    end

    def test_a_stream_that_raises_is_cut_off
      app { [200, PLAIN.dup, Bodies::Streaming.new { |stream| stream.write("hello") && raise("halfway") }] }
      bytes = open_client { |client| client.write(request).rest }
      assert_match(/\A.* 200 .*hello\r\n\z/m, bytes)
      assert_alive
    end

    def test_a_stream_reads_the_requests_body
      app do |_env|
        [200, PLAIN.dup, Bodies::Streaming.new { |stream| stream.write(stream.read.upcase) && stream.close }]
      end
      assert_equal "HELLO", answer(request("POST / HTTP/1.1", "Content-Length: 5", body: "hello")).body
    end

    # Rack SPEC 3.1: with environment, status, headers and error; in reverse order; their exceptions harm nothing.
    def test_response_finished
      calls = Queue.new
      lint do |env|
        env["rack.response_finished"] << ->(*args) { calls << [:first, *args] } << ->(*) { raise "in a callback" } <<
          ->(*args) { calls << [:last, *args] }
        [202, PLAIN.dup, ["hello"]]
      end
      assert_equal "hello", answer.body
      last, first = Array.new(2) { calls.pop }
      assert_equal [:last, 202, "text/plain", nil], [last[0], last[2], last[3]["content-type"], last[4]]
      assert_equal [:first, "/"], [first[0], first[1]["PATH_INFO"]]
      assert_alive
    end

    def test_response_finished_gets_the_error
      failures = { before: -> { raise "early" }, stream: -> { [200, {}, Bodies::Parts.new("a", error: "late")] } }
      failures.each_value do |failure|
        errors = Queue.new
        app do |env|
          env["rack.response_finished"] << ->(_env, _status, _headers, error) { errors << error }
          failure.call
        end
        open_client { |client| client.write(request("GET / HTTP/1.1", "Connection: close")).rest }
        assert_match(/early|late/, errors.pop.message)
      end
    end

    # Got nothing, or the app's triple, which the client never saw.
    def test_response_finished_after_an_error_has_the_500_that_was_sent
      errors = Queue.new
      [-> { raise "early" }, -> { [200, { "x-mine" => "yes" }, Bodies::Parts.new(error: "at once")] },
       -> { [0, { "x-mine" => "yes" }, ["hello"]] }].each do |failure|
        app do |env|
          env["rack.response_finished"] << ->(_env, *rest) { errors << rest }
          failure.call
        end
        response = answer(request("GET / HTTP/1.1", "Connection: close"))
        status, headers, error = errors.pop
        assert_equal [500, 500], [response.status, status]
        assert_equal [response["content-type"], nil], headers.values_at("content-type", "x-mine")
        assert_kind_of Exception, error
      end
    end

    def test_response_finished_for_every_kind_of_body
      with_file("hello") do |path|
        [["hello"], Bodies::Parts.new("hello"), Bodies::OfFile.new(path, "hello"),
         Bodies::Streaming.new { |stream| stream.write("hello") && stream.close }].each do |body|
          done = Queue.new
          app do |env|
            env["rack.response_finished"] << ->(*args) { done << args.last }
            [200, PLAIN.dup, body]
          end
          assert_equal "hello", answer.body
          assert_nil done.pop
          assert_empty done
        end
      end
    end
  end

  # Puma's name for callbacks without arguments, which come after the response.
  def test_after_reply
    calls = Queue.new
    streaming = Bodies::Streaming.new { |stream| stream.write("hello") && stream.close }
    bodies = [["hello"], Bodies::Parts.new("hello"), streaming]
    bodies.each do |body|
      app do |env|
        env["rack.after_reply"] << -> { calls << :first } << -> { raise NotImplementedError } << -> { calls << :last }
        [200, PLAIN.dup, body]
      end
      assert_equal "hello", answer.body
      assert_equal %i[first last], Array.new(2) { calls.pop }.sort
    end
    app { |env| (env["rack.after_reply"] << -> { calls << :failed }) && raise("early") }
    assert_equal [500, :failed], [answer.status, calls.pop]
    assert_empty calls
    assert_alive
  end

  # Rails' executor ends in a callback what a body's close may still need. The callback came first.
  def test_callbacks_come_after_the_bodys_close
    bodies = [Bodies::Parts.new("hello"), Bodies::Parts.new("hello", error: "late"),
              Bodies::Streaming.new { |stream| stream.write("hello") && stream.close },
              Bodies::Streaming.new { |stream| Thread.new { stream.write("hello") && stream.close } },
              Bodies::Streaming.new { raise "early" }]
    bodies.product([200, 0], %w[rack.response_finished rack.after_reply]) do |body, status, name|
      order = Queue.new
      body.define_singleton_method(:close) { order << :closed }
      app { |env| (env[name] << ->(*) { order << :called }) && [status, PLAIN.dup, body] }
      open_client { |client| client.write(request("GET / HTTP/1.1", "Connection: close")).rest }
      assert_equal %i[closed called], Array.new(2) { order.pop }
    end
  end

  # If the app replaced rack.after_reply, the callbacks in the new one were not called.
  def test_lists_of_callbacks_that_the_app_made
    ways = [->(env, name, call) { env[name] += [call] }, ->(env, name, call) { env[name] = [call] },
            ->(env, name, call) { env.delete(name) && (env[name] ||= []) << call }]
    bodies = [["hello"], Bodies::Parts.new("hello")]
    %w[rack.response_finished rack.after_reply].product(ways, bodies) do |name, way, body|
      calls = []
      app { |env| way.call(env, name, ->(*) { calls << name }) && [200, PLAIN.dup, body] }
      assert_equal "hello", answer.body
      eventually("what is in #{name}") { calls == [name] }
    end
  end

  # Under the core in Ruby it was a 500.
  def test_what_is_no_list_of_callbacks
    ["text", 5, nil, true, Object.new].product(%w[rack.response_finished rack.after_reply]) do |other, name|
      app { |env| [env.merge!(name => other) && 200, PLAIN.dup, ["hello"]] }
      assert_equal "hello", answer.body
    end
  end

  # The lists were looked at before the fields' to_s ran.
  def test_a_callback_of_a_field_that_is_rendered
    calls = Queue.new
    app do |env|
      field = Object.new
      field.define_singleton_method(:to_s) { (env["rack.after_reply"] << -> { calls << :called }) && "value" }
      [200, { "x-field" => field }, ["hello"]]
    end
    assert_equal "hello", answer.body
    eventually("the call") { !calls.empty? }
  end

  # The app speaks that coding itself. It was dropped, so that the client read the chunks' sizes as content.
  def test_partial_hijack_keeps_the_apps_transfer_encoding
    hijack = lambda do |io|
      io.write("5\r\nhello\r\n0\r\n\r\n")
      io.close
    end
    app { [200, PLAIN.merge("transfer-encoding" => "chunked", "rack.hijack" => hijack), []] }
    open_client do |client|
      response = client.ask(request)
      assert_equal [:chunked, "hello"], [response.framing, response.body]
    end
  end

  # RFC 9112, 6.1 and RFC 9110, 8.6: neither may be there. A client could wait for that body in the new protocol.
  def test_101_has_no_framing_fields
    upgrade = { "upgrade" => "x", "connection" => "upgrade" }
    [{ "content-length" => "5" }, { "transfer-encoding" => "chunked" }].each do |headers|
      app { [101, upgrade.merge(headers), Bodies::Streaming.new(&:close)] }
      bytes = open_client { |client| client.write(request("GET / HTTP/1.1", "Connection: upgrade", "Upgrade: x")).rest }
      assert_match(%r{\AHTTP/1\.1 101 .*\r\n\r\n\z}m, bytes, headers.inspect)
      refute_match(/^(transfer-encoding|content-length):/i, bytes, headers.inspect)
    end
  end

  # RFC 9112, 6.1 and RFC 9110, 8.6: neither may be there.
  def test_204_has_no_framing_fields
    hijack = :close.to_proc
    [{}, { "transfer-encoding" => "chunked" }, { "content-length" => "0" }, { "rack.hijack" => hijack },
     { "transfer-encoding" => "chunked", "rack.hijack" => hijack }].each do |headers|
      [[], Bodies::Parts.new, Bodies::Streaming.new(&:close)].each do |body|
        app { [204, headers.dup, body] }
        bytes = open_client { |client| client.write(request("GET / HTTP/1.1", "Connection: close")).rest }
        assert_match(%r{\AHTTP/1\.1 204 .*\r\n\r\n\z}m, bytes, headers.inspect)
        refute_match(/^(transfer-encoding|content-length):/i, bytes, headers.inspect)
      end
    end
  end

  # RFC 9110, 15.3.6: no content, and a length that says so, as clients expect content otherwise.
  def test_205_has_no_content
    [{}, { "transfer-encoding" => "chunked" }, { "content-length" => "5" }].each do |headers|
      [["hello"], Bodies::Parts.new("hel", "lo"), Bodies::Streaming.new { |stream| stream.write("x") && stream.close }]
        .each do |body|
        app { [205, headers.dup, body] }
        open_client do |client|
          2.times do
            response = client.ask(request("GET / HTTP/1.1"))
            assert_equal [205, :length, "", ["0"]],
                         [response.status, response.framing, response.body, response.all("content-length")], headers
          end
        end
      end
    end
  end

  # CGI's name for what the status line says: Rack's SPEC forbids it, and a client may take it for something.
  def test_a_status_field_is_not_sent
    %w[status Status].each do |name|
      [["hello"], Bodies::Parts.new("hello")].each do |body|
        app { [200, PLAIN.merge(name => "404 Not Found"), body] }
        response = answer
        assert_equal [200, []], [response.status, response.all("status")]
      end
    end
  end

  # As ActionDispatch::Response::RackBody is with a range of a file behind it: to_ary calls each without a block, and
  # what is behind needs one. Its to_ary is there all the same.
  class RangeBody < Bodies::Parts
    def initialize(*parts, &to_ary)
      super(*parts)
      @to_ary = to_ary
    end

    def each
      raise LocalJumpError, "no block given (yield)" unless block_given?

      super
    end

    def to_ary = instance_exec(&@to_ary)
  end

  # Was a 500, where other servers iterate.
  def test_a_body_of_known_length_is_iterated_and_not_made_an_array
    { "calls each without a block" => -> { each }, "gives nil" => -> {}, "raises" => -> { raise "no Array" } }
      .each do |fault, to_ary|
      body = RangeBody.new("hel", "lo", &to_ary)
      app { [206, PLAIN.merge("content-length" => "5", "content-range" => "bytes 0-4/9"), body] }
      response = answer
      assert_equal [206, "5", "hello"], [response.status, response["content-length"], response.body], fault
      assert_closed body
    end
  end

  def test_full_hijack_by_the_env
    lint do |env|
      io = env["rack.hijack"].call
      io.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")
      io.close
      [500, PLAIN.dup, []]
    end
    open_client do |client|
      assert_equal "hi", client.ask(request).body
      assert_equal :closed, client.ending
    end
  end

  def test_responses_leave_without_delay
    app do |env|
      io = env["rack.hijack"].call
      io.write("HTTP/1.1 200 OK\r\n\r\n#{io.getsockopt(:TCP, :NODELAY).bool}")
      io.close
      [500, PLAIN.dup, []]
    end
    2.times { assert_equal "true", answer.body }
  end

  def test_partial_hijack
    body = Bodies::Parts.new("ignored")
    hijack = lambda do |io|
      io.write("a line: #{io.gets}")
      io.close
    end
    app { [200, PLAIN.merge("rack.hijack" => hijack), body] }
    open_client do |client|
      bytes = client.write("#{request}said\r\n").rest
      head, rest = bytes.split("\r\n\r\n", 2)
      assert_match(%r{\AHTTP/1\.1 200 }, head)
      refute_match(/rack\.hijack|transfer-encoding/i, head)
      assert_equal "a line: said\r\n", rest
    end
    assert_closed body
  end

  def test_an_upgrade
    hijack = lambda do |io|
      io.write(io.readpartial(4).upcase)
      io.close
    end
    app { [101, { "upgrade" => "shout", "connection" => "upgrade", "rack.hijack" => hijack }, []] }
    open_client do |client|
      client.write(request("GET / HTTP/1.1", "Connection: upgrade", "Upgrade: shout"))
      response = client.response
      assert_equal [101, "shout"], [response.status, response["upgrade"]]
      assert_equal "PING", client.write("ping").exactly(4)
      assert_equal :closed, client.ending
    end
  end

  # RFC 9110, 7.8: HTTP/1.0 has no upgrades, a 101 names its protocol, and the client has asked for that.
  def test_an_upgrade_that_the_client_has_not_asked_for
    asked = ["Connection: upgrade", "Upgrade: x/1, TLS/1.0"]
    ["y", nil, "", "x1"].each do |to|
      assert_equal 500, switched(request("GET / HTTP/1.1", *asked), to), to.inspect
    end
    assert_equal 500, switched(request("GET / HTTP/1.1", "Connection: upgrade"), "x")
    assert_equal 500, switched(request("GET / HTTP/1.1", "Upgrade: x"), "x")
    assert_equal 500, switched(request("GET / HTTP/1.1", "Connection: close", "Upgrade: x"), "x")
    assert_equal 500, switched(request("GET / HTTP/1.1", "Upgrade:"), "")
    assert_equal 500, switched(request("GET / HTTP/1.0", *asked), "x")
    [%w[x], %w[X/2], %w[TLS/1.0 HTTP/1.1], ["y, x"]].each do |to|
      assert_equal 101, switched(request("GET / HTTP/1.1", *asked), to), to.inspect
    end
  end

  # RFC 9110, 7.8: it must, also to a client that sends its body without waiting.
  def test_a_101_comes_after_a_100
    lines = ["Connection: upgrade", "Upgrade: x", "Expect: 100-continue"]
    app { [101, { "upgrade" => "x", "rack.hijack" => :close.to_proc }, []] }
    [["Content-Length: 0", ""], ["Content-Length: 3", "abc"]].each do |length, body|
      bytes = open_client { |client| client.write(request("GET / HTTP/1.1", *lines, length, body: body)).rest }
      assert_equal %w[100 101], bytes.scan(%r{^HTTP/1\.1 (\d+)}).flatten
    end
    open_client do |client|
      assert_equal 100, client.write(request("GET / HTTP/1.1", *lines, "Content-Length: 3")).response.status
      assert_equal %w[101], client.write("abc").rest.scan(%r{^HTTP/1\.1 (\d+)}).flatten
    end
  end

  # RFC 9110, 7.8: a sender of Upgrade must also send that option.
  def test_an_upgrade_field_is_an_option_of_the_connection
    { nil => ["upgrade"], "x-a" => %w[x-a upgrade], "Upgrade" => ["Upgrade"] }.each do |options, sent|
      app { [426, PLAIN.merge("upgrade" => "x", "connection" => options), ["no"]] }
      assert_equal sent, answer.all("connection")
      assert_equal [*sent, "close"].sort, answer(request("GET / HTTP/1.1", "Connection: close")).all("connection").sort
    end
  end

  # RFC 9110, 7.6.1: a sender must list the fields that are only for this connection.
  def test_options_of_the_connection_beside_close
    app { [200, PLAIN.merge("connection" => "close, x-a", "x-a" => "1"), ["hello"]] }
    assert_equal ["close, x-a", "close"], answer.all("connection")
    app { [200, PLAIN.merge("connection" => %w[x-a close]), ["hello"]] }
    assert_equal %w[x-a close], answer.all("connection")
    [" Keep-Alive ,", "", ","].each do |options|
      app { [200, PLAIN.merge("connection" => options), ["hello"]] }
      assert_empty answer.all("connection"), options
    end
  end

  # RFC 9110, 9.3.2 and 6.4.1. The socket was the app's, and what it wrote came before the next response.
  def test_partial_hijack_where_there_is_no_content
    body = Bodies::Parts.new("ignored")
    hijack = ->(io) { io.write("hello") && io.close }
    [["HEAD", 200], ["GET", 204], ["GET", 205], ["GET", 304]].each do |method, status|
      app { [status, { "rack.hijack" => hijack }, body] }
      open_client do |client|
        last = request("#{method} / HTTP/1.1", "Connection: close")
        bytes = client.write(request("#{method} / HTTP/1.1") + last).rest
        assert_equal [status.to_s] * 2, bytes.scan(%r{^HTTP/1\.1 (\d+)}).flatten, method
        refute_includes bytes, "hello"
      end
    end
    assert_closed body, 8
  end

  # RFC 9112, 6.1: HTTP/1.0 has no Transfer-Encoding.
  def test_partial_hijack_with_chunks_for_http_1_0
    app { [200, PLAIN.merge("transfer-encoding" => "chunked", "rack.hijack" => :close.to_proc), []] }
    response = answer(request("GET / HTTP/1.0"))
    assert_equal [500, nil], [response.status, response["transfer-encoding"]]
  end

  # RFC 9112, 9.6: a server that sends this option must close.
  def test_early_hints_that_announce_the_end
    app { |env| env["rack.early_hints"].call({ "connection" => "close, x-a" }) || [200, PLAIN.dup, ["hello"]] }
    open_client do |client|
      response = client.write(request).final_response
      assert_equal %w[hello close], [response.body, response["connection"]]
      assert_equal :closed, client.ending
    end
  end

  def test_early_hints
    link = "</style.css>; rel=preload"
    lint do |env|
      env["rack.early_hints"]&.call({ "link" => RACK3 ? [link, "</x>"] : "#{link}\n</x>" })
      [200, PLAIN.dup, ["hello"]]
    end
    hints = []
    open_client do |client|
      assert_equal "hello", client.write(request).final_response { |interim| hints << interim }.body
      assert_equal "hello", client.ask(request).body
    end
    assert_equal [[103, [link, "</x>"]]], hints.map { |hint| [hint.status, hint.all("link")] }
  end

  # CVE-2020-5249.
  def test_early_hints_are_validated
    ["a\r\nX-Injected: 1", "a\r\n\r\nHTTP/1.1 200 OK", "a\0b"].each do |value|
      app do |env|
        env["rack.early_hints"].call({ "link" => value })
        [200, {}, ["hello"]]
      end
      bytes = open_client { |client| client.write(request("GET / HTTP/1.1", "Connection: close")).rest }
      refute_match(/injected|\0|HTTP.*HTTP.*HTTP/im, bytes)
      assert_equal 1, bytes.scan(%r{^HTTP/1\.1 [2-5]}).size
    end
  end

  def test_http_1_0_gets_no_early_hints
    app do |env|
      env["rack.early_hints"]&.call({ "link" => "</x>" })
      [200, {}, ["hello"]]
    end
    open_client { |client| assert_equal 200, client.write("GET / HTTP/1.0\r\n\r\n").response.status }
  end

  def test_the_apps_connection_close_is_kept
    lint { [200, PLAIN.merge("connection" => "close"), ["hello"]] }
    open_client do |client|
      assert client.ask(request).close?
      assert_equal :closed, client.ending
    end
  end

  def test_an_array_body_that_knows_close_is_closed
    body = ["hello"]
    closes = 0
    body.define_singleton_method(:close) { closes += 1 }
    app { [200, PLAIN.dup, body] }
    assert_equal "hello", answer.body
    eventually { closes == 1 }
    assert_alive
    assert_equal 1, closes
  end

  private

  # The status of the response if the app switches to protocols.
  def switched(bytes, to)
    app { [101, { "upgrade" => to, "connection" => "upgrade", "rack.hijack" => :close.to_proc }, []] }
    open_client { |client| client.write(bytes).response.status }
  end

  # What the block returns, or the error that it raises.
  def attempt
    yield
  rescue StandardError => error
    error
  end

  def with_file(content)
    Tempfile.create("cuttle", binmode: true) do |file|
      file.write(content)
      file.flush
      yield file.path
    end
  end
end
