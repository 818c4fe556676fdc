# frozen_string_literal: true

require "test_helper"
require "socket"

# Static files over the wire, on every engine.
class TestStaticServing < Minitest::Test
  include DocumentRoot
  include Serving

  LARGE = 8 << 20
  APP = ->(env) { [200, { "content-type" => "text/plain" }, ["app: #{env["PATH_INFO"]}"]] }

  Serving::ENGINES.each do |engine|
    define_method("test_files_before_the_app_with_#{engine}") do
      put "page.html", "Hello"
      with_files(engine: engine) do |server|
        answer = get(server, "/page.html")
        assert_equal [200, "Hello", "text/html; charset=utf-8"], [answer.status, answer.body, answer["content-type"]]
        assert_equal "app: /none.html", get(server, "/none.html").body
        assert_equal "app: /../secret", get(server, "/../secret").body
      end
    end

    define_method("test_large_files_whole_and_in_part_with_#{engine}") do
      content = Random.bytes(LARGE)
      put "large.bin", content
      with_files(engine: engine) do |server|
        assert content == get(server, "/large.bin").body, "every octet arrives"
        answer = get(server, "/large.bin", "Range" => "bytes=1000000-7000000")
        assert_equal [206, "bytes 1000000-7000000/#{LARGE}"], [answer.status, answer["content-range"]]
        assert content[1_000_000..7_000_000] == answer.body, "every octet of the range arrives"
      end
    end
  end

  def test_one_connection_for_many_requests
    put "page.html", "Hello"
    put "large.bin", "x" * 100_000
    etag = nil
    with_files do |server|
      client(server) do |client|
        assert_equal "Hello", ask(client, "GET /page.html").body
        answer = ask(client, "HEAD /large.bin")
        assert_equal [200, "100000", ""], [answer.status, answer["content-length"], answer.body]
        assert_equal 100_000, ask(client, "GET /large.bin").body.size
        etag = ask(client, "HEAD /page.html")["etag"]
        assert_equal [304, ""], ask(client, "GET /page.html", "If-None-Match: #{etag}").then { |a| [a.status, a.body] }
        assert_equal 416, ask(client, "GET /page.html", "Range: bytes=5-").status
        assert_equal "ell", ask(client, "GET /page.html", "Range: bytes=1-3").body
        assert_equal "", ask(client, "HEAD /page.html", "Range: bytes=1-3").body
        assert_equal "app: /x", ask(client, "GET /x").body
      end
    end
  end

  def test_pipelined_requests_are_answered_in_order
    %w[a b c].each { |name| put "#{name}.txt", name * 40_000 }
    with_files do |server|
      client(server) do |client|
        client.write(%w[a b c].map { |name| "GET /#{name}.txt HTTP/1.1\r\nHost: a\r\n\r\n" }.join)
        assert_equal(%w[a b c], Array.new(3) { client.response.body.squeeze })
      end
    end
  end

  def test_several_ranges
    put "large.bin", "abcdefghij" * 1000
    with_files do |server|
      answer = get(server, "/large.bin", "Range" => "bytes=0-2,5000-5001")
      assert_equal 206, answer.status
      boundary = answer["content-type"][/boundary=(\w+)/, 1]
      assert_equal 3, answer.body.scan("\r\n--#{boundary}").size
      assert_includes answer.body, "content-range: bytes 5000-5001/10000\r\n\r\nab\r\n"
    end
  end

  def test_a_file_cut_short_while_it_is_sent_breaks_the_connection_off
    path = put("large.bin", "x" * (64 << 20))
    with_files do |server|
      client(server) do |client|
        client.write("GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n")
        client.socket.wait_readable(10)
        File.truncate(path, 1000)
        refute_predicate client.response, :complete?
        assert_predicate client, :closed?
      end
    end
  end

  def test_hostile_targets
    put "sub/index.html", "index"
    with_files do |server|
      ["/../secret", "/sub/../../secret", "/%2e%2e/secret", "/..%2fsecret", "/%252e%252e/secret",
       "/sub/%2e%2e%2f../secret", "/..%5csecret", "/..\\secret", "/%00", "/sub%00/index.html", "/sub/index.html/",
       "//sub", "/./sub/index.html", "/#{"a/../" * 900}../secret", "#{@directory}/secret"].each do |target|
        answer = get(server, target)
        refute_includes answer.text, DocumentRoot::SECRET, target
        assert answer.status == 400 || answer.body.start_with?("app: "), "#{target}: #{answer.text}"
      end
    end
  end

  def test_absolute_form_and_a_redirect
    put "index.html", "top"
    put "sub/index.html", "index"
    with_files do |server|
      assert_equal "top", get(server, "http://example.test").body
      assert_equal "index", get(server, "http://example.test/sub/?x=y").body
      assert_equal [301, "/sub/?x=y"], get(server, "/sub?x=y").then { |answer| [answer.status, answer["location"]] }
    end
  end

  def test_a_directory_alone
    put "index.html", "index"
    serving_process(@root, forked: true) do |process|
      assert_equal "index", get(process, "/").body
      assert_equal [404, 400], ["/none", "/%zz"].map { |path| get(process, path).status }
      answer = request(process, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
      assert_equal [405, "GET, HEAD"], [answer.status, answer["allow"]]
    end
  end

  private

  def with_files(engine: "hybrid", &block)
    serving(APP, engine: engine, docroot: @root, &block)
  end

  def ask(client, line, *fields)
    client.write("#{line} HTTP/1.1\r\n#{["Host: a", *fields].join("\r\n")}\r\n\r\n")
    client.response(request: line[/\A\w+/])
  end
end
