# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"

# What is sent: requests, mixes, HAR files, and how plans and targets are read.
class TestLoadRequests < Minitest::Test
  Load = Cuttle::Load
  Request = Cuttle::Load::Request

  def in_file(text, name = "file")
    Dir.mktmpdir do |directory|
      path = File.join(directory, name)
      File.binwrite(path, text)
      yield path
    end
  end

  def test_octets
    assert_equal "GET / HTTP/1.1\r\nHost: a:1\r\n\r\n", Request.new.octets("a:1")
    posted = Request.new(method: "POST", path: "/x", headers: [%w[host b], %w[A c]], body: "\xFF\0")
    assert_equal "POST /x HTTP/1.1\r\nHost: b\r\nA: c\r\nConnection: close\r\nContent-Length: 2\r\n\r\n\xFF\0".b,
                 posted.octets("a", close: true).sub("host", "Host")
    assert_equal "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", Request.new(method: "PUT").octets("a")
    assert_equal "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                 Request.new(method: "POST", headers: [%w[Transfer-Encoding chunked]], body: "0\r\n\r\n").octets("a")
  end

  def test_wrong_requests_are_refused
    [{ method: "G T" }, { method: "CONNECT" }, { method: 5 }, { path: "x" }, { path: "/a b" }, { path: "/\r\nX: y" },
     { headers: [["a b", "c"]] }, { headers: [["A", "b\r\nC: d"]] }, { expect: 99 }, { expect: "200" }, { weight: 0 },
     { weight: "1" }, { name: " " }, { name: 5 }, { body: 5 }].each do |options|
      assert_raises(Cuttle::UsageError, options.inspect) { Request.new(**options) }
    end
  end

  def test_mixes
    text = <<~MIX
      # the front page, mostly
      {"path": "/", "weight": 9}

      {"method": "POST", "path": "/p", "headers": {"Accept": ["a", "b"]}, "body": "hello", "status": 201}
    MIX
    in_file(text) do |path|
      front, post = Load::Mix.read(path)

      assert_equal ["GET", "/", 9, nil], [front.method, front.path, front.weight, front.expect]
      assert_equal ["POST", "hello", 201, [%w[Accept a], %w[Accept b]]],
                   [post.method, post.body, post.expect, post.headers]
    end
  end

  # As some editors write it.
  def test_a_mix_with_a_byte_order_mark
    in_file("\xEF\xBB\xBF{\"path\": \"/a\"}\n") { |path| assert_equal ["/a"], Load::Mix.read(path).map(&:path) }
  end

  def test_bodies_from_files
    in_file("\x00\xFFbody", "body") do |body|
      File.write("#{File.dirname(body)}/mix", %({"method": "PUT", "body_file": "body"}\n))

      assert_equal "\x00\xFFbody".b, Load::Mix.read("#{File.dirname(body)}/mix").first.body
    end
  end

  def test_wrong_mixes_are_refused_by_their_line
    { "{}\nnonsense" => "2: not JSON", "[1]" => "1: a JSON object", '{"pth": "/"}' => '1: no key "pth"',
      '{"status": 1}' => "1: expected status", '{"body": "a", "body_file": "b"}' => "1: body or body_file",
      '{"body_file": "/no/such"}' => "1: body_file: /no/such: No such file",
      '{"body": {"a": 1}}' => "1: body: a text, not {", '{"body": false}' => "1: body: a text, not false",
      '{"body_file": 5}' => "1: body_file: a name, not 5", %({"path": "/\xFF"}) => "1: not UTF-8",
      '{"body_file": "a\\u0000b"}' => '1: body_file: "a\u0000b": ',
      '{"body": "", "body_file": "b"}' => "1: body or body_file",
      '{"headers": 5}' => "1: headers", "# nothing\n" => "no requests", '{"path": "//x y"}' => "1: path",
      '{"weight": -1}' => "1: weight" }.each do |text, said|
      in_file(text) do |path|
        error = assert_raises(Cuttle::UsageError, text) { Load::Mix.read(path) }
        assert_includes error.message, said
      end
    end
    assert_raises(Cuttle::UsageError) { Load::Mix.read("/no/such/file") }
  end

  def har(*requests)
    JSON.generate("log" => { "entries" => requests.map { |request| { "request" => request } } })
  end

  def test_har
    text = har({ "method" => "GET", "url" => "https://a.test/x?y=1",
                 "headers" => [{ "name" => ":authority", "value" => "a" }, { "name" => "Accept", "value" => "b" },
                               { "name" => "Connection", "value" => "c" }] },
               { "method" => "GET", "url" => "https://cdn.test/lib.js", "headers" => [] },
               { "method" => "POST", "url" => "https://A.test/form", "headers" => [],
                 "postData" => { "params" => [{ "name" => "n", "value" => "v w" }] } },
               { "method" => "POST", "url" => "https://a.test/json", "headers" => [],
                 "postData" => { "text" => "{}" } })
    in_file(text) do |path|
      plan = Load::Plan.build("http://a.test:8080/", har: path)

      assert plan.in_order
      assert_equal [["GET", "/x?y=1", nil], ["POST", "/form", "n=v+w"], ["POST", "/json", "{}"]],
                   plan.requests.map { |request| [request.method, request.path, request.body] }
      assert_equal [%w[Accept b]], plan.requests.first.headers
    end
  end

  # As some programs write it, and with what is no address.
  def test_a_har_with_a_byte_order_mark
    text = har({ "method" => "GET", "url" => "http://a.test/x" }, { "method" => "GET" },
               { "method" => "GET", "url" => "data:text/plain,x" }, { "method" => "GET", "url" => "http://a b/" })
    in_file("\xEF\xBB\xBF#{text}") do |path|
      assert_equal ["/x"], Load::Plan.build("http://a.test/", har: path).requests.map(&:path)
    end
  end

  def test_a_har_of_a_proxy
    text = har({ "method" => "CONNECT", "url" => "http://a.test:443" },
               { "method" => "GET", "url" => "https://a.test/x" })
    in_file(text) do |path|
      left_out = nil
      plan = Load::Plan.build("https://a.test/", har: path) { |*which| left_out = which }

      assert_equal [["/x"], [1, "not to http or https"]], [plan.requests.map(&:path), left_out]
    end
  end

  # The paths of a HAR file that are for +target+, and the numbers of requests that are left out, with the reason.
  def chosen(target, *urls)
    left_out = []
    in_file(har(*urls.map { |url| { "method" => "GET", "url" => url } })) do |path|
      plan = Load::Plan.build(target, har: path) { |*which| left_out << which }
      [plan.requests.map(&:path), left_out]
    end
  end

  def test_a_har_is_read_for_one_port
    urls = %w[http://a.test/1 http://a.test:3000/2 https://a.test/3 http://b.test/4 http://a.test:3000/5 data:,x]
    elsewhere = [[1, "not to http or https"], [1, "to other hosts than a.test"]]

    assert_equal [["/1"], [*elsewhere, [3, "to other ports than 80"]]], chosen("http://a.test", *urls)
    assert_equal [["/3"], [*elsewhere, [3, "to other ports than 443"]]], chosen("https://a.test", *urls)
    assert_equal [["/2", "/5"], [*elsewhere, [2, "to other ports than 3000"]]], chosen("http://a.test:8080", *urls)
    assert_equal [["/x", "/y"], []], chosen("https://[::1]:99", "https://[::1]/x", "https://[::1]:443/y")
  end

  def test_a_har_may_have_what_browsers_do_not_escape
    assert_equal [["/a|b[1]^?c={d}|e", "/?q", "/", "/a%20%C3%A9%25?%C3%A9"], []],
                 chosen("http://a.test", "http://a.test/a|b[1]^?c={d}|e#f|", "http://u:p@a.test?q", "HTTP://A.test#x",
                        "http://a.test/a \u00e9%25?\u00e9")
  end

  def test_wrong_hars_are_refused
    ["", "{}", "[]", '{"log": 5}', har,
     har({ "method" => "GET", "url" => "http://b/", "headers" => [] })].each do |text|
      in_file(text) { |path| assert_raises(Cuttle::UsageError, text) { Load::Plan.build("http://a.test/", har: path) } }
    end
  end

  # What a server hears of a mix: its weights, and the same for the same seed.
  def heard(**options)
    paths = Queue.new
    listener = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new { loop { answer(listener.accept, paths) } }
    Load.run("http://127.0.0.1:#{listener.local_address.ip_port}/", connections: 1, threads: 1, **options)
    Array.new(paths.length) { paths.pop }
  ensure
    thread&.kill
    listener&.close
  end

  def answer(socket, paths)
    while (line = socket.gets)
      paths << line[/ (\S+)/, 1] if line.start_with?("GET")
      socket.write(Load::TestServers::ANSWER) if line == "\r\n"
    end
  end

  def test_a_mix_has_its_weights_and_a_seed_repeats_it
    mix = [Request.new(path: "/a", weight: 3), Request.new(path: "/b")]
    first = heard(mix: mix, requests: 400, seed: 4)

    assert_equal first, heard(mix: mix, requests: 400, seed: 4)
    refute_equal first, heard(mix: mix, requests: 400, seed: 5)
    assert_in_delta 300, first.count("/a"), 45
  end

  def test_a_har_is_sent_in_its_order
    requests = %w[/1 /2 /3].map { |path| { "method" => "GET", "url" => "http://127.0.0.1#{path}", "headers" => [] } }
    in_file(har(*requests)) do |path|
      assert_equal %w[/1 /2 /3 /1 /2], heard(har: path, requests: 5)
    end
  end

  # What each connection of a closed loop with two threads and two connections sends.
  def heard_by_two_threads(**options)
    listener = TCPServer.new("127.0.0.1", 0)
    heard = []
    thread = Thread.new { loop { heard << Queue.new.tap { |paths| answer_apart(listener.accept, paths) } } }
    Load.run("http://127.0.0.1:#{listener.local_address.ip_port}/", connections: 2, threads: 2, **options)
    heard.map { |paths| Array.new(paths.length) { paths.pop } }.reject(&:empty?)
  ensure
    thread&.kill
    listener&.close
  end

  def answer_apart(socket, paths)
    Thread.new { answer(socket, paths) }
  end

  def test_each_thread_of_a_closed_loop_sends_a_whole_har
    requests = %w[/1 /2].map { |path| { "method" => "GET", "url" => "http://127.0.0.1#{path}", "headers" => [] } }
    in_file(har(*requests)) do |path|
      heard = heard_by_two_threads(har: path, requests: 40)

      assert_equal 40, heard.sum(&:length)
      heard.each { |paths| assert_equal %w[/1 /2].cycle.first(paths.length), paths }
    end
  end

  def test_targets
    assert_equal ["h", 80, "/", "h", false],
                 Load::Target.new("http://h").then { |t| [t.host, t.port, t.path, t.authority, t.tls?] }
    assert_equal ["h", 443, "/p?q", "h", true],
                 Load::Target.new("https://h/p?q#f").then { |t| [t.host, t.port, t.path, t.authority, t.tls?] }
    assert_equal ["::1", "[::1]:8080"], Load::Target.new("http://[::1]:8080/").then { |t| [t.host, t.authority] }
    assert_equal ["h:81", "/"], Load::Target.new("h:81").then { |t| [t.authority, t.path] }
    assert_equal ["h", "/x?to=http://y/"], Load::Target.new("h/x?to=http://y/").then { |t| [t.authority, t.path] }
    assert_equal ["localhost", "/uri?x"],
                 Load::Target.new("unix:///run/s.sock:/uri?x").then { |t| [t.authority, t.path] }
    assert_equal "/", Load::Target.new("unix:///run/s.sock").path
  end

  def test_wrong_targets_are_refused
    ["", "ftp://h/", "http://", "http:///x", "http://h:x/", "http://a b/", "unix://", "unix:relative",
     "unix:///#{"s" * 108}", "mailto:a@b"].each do |url|
      assert_raises(Cuttle::UsageError, url.inspect) { Load::Target.new(url) }
    end
  end

  # The threads need some, too.
  def test_a_plan_needs_descriptors
    hard = Process.getrlimit(:NOFILE).last
    plan = Load::Plan.build("http://h", connections: hard - 39, threads: 2)
    error = assert_raises(Cuttle::UsageError) { Load::Generator.new(plan) }

    assert_match(/connections: at most #{hard - 40},/, error.message)
  end

  # The limit is of all files that are open, whatever they are for.
  def test_a_plan_needs_descriptors_beside_those_in_use
    limits = Process.getrlimit(:NOFILE)
    files = Array.new(100) { File.open(File::NULL) }
    Process.setrlimit(:NOFILE, 400, limits.last)
    Load::Generator.new(Load::Plan.build("http://h", connections: 400, threads: 1))

    assert_operator Process.getrlimit(:NOFILE).first, :>=, 500
  ensure
    files&.each(&:close)
    Process.setrlimit(:NOFILE, *limits)
  end

  def test_wrong_plans_are_refused
    [{ connections: 0 }, { connections: "many" }, { threads: 3, connections: 2 }, { duration: 0 }, { duration: -1 },
     { requests: 0 }, { timeout: 0 }, { timeout: 7200 },
     { pipeline: 2, rate: 1 }, { pipeline: 2, keep_alive: false }, { think: 1, rate: 1 }, { think: -1 },
     { pipeline: 4, think: 1 }, { warmup: -1 },
     { warmup: 1, trace: [1] }, { warmup: 1, ramp: [0, 9, 1] }, { seed: -1 }, { slow_read: 0 },
     { mix: [], har: "x" },
     { mix: "x", body: "y" }, { speed: 1 },
     { headers: [["a", "b\n"]] }, { method: "" }, { expect: 0 }].each do |options|
      assert_raises(Cuttle::UsageError, options.inspect) { Load::Plan.build("http://127.0.0.1/", **options) }
    end
  end

  # Another machine may have more files: a plan says nothing about this one.
  def test_plans_that_this_machine_can_not_run_are_refused_by_its_generator
    plan = Load::Plan.build("http://127.0.0.1/", connections: 10**8)

    assert_match(/connections: at most/, assert_raises(Cuttle::UsageError) { Load::Generator.new(plan) }.message)
  end

  def test_plans_split_without_loss
    plan = Load::Plan.build("http://127.0.0.1/", connections: 11, threads: 3, requests: 100)
    parts = plan.split([4, 4])

    assert_equal [11, 3, 100], %i[connections threads limit].map { |name| parts.sum(&name) }
    assert_equal [[0, 3], [2, 3]], parts.map { |part| [part.part, part.parts] }
  end

  def test_each_part_has_the_threads_that_suit_its_machine
    parts = Load::Plan.build("http://127.0.0.1/", connections: 9).split([2, 4, 1])

    assert_equal [[2, 0, 6], [3, 2, 6], [1, 5, 6]], parts.map { |part| [part.threads, part.part, part.parts] }
  end

  # Together they send the first 102 arrivals of the schedule.
  def test_parts_of_a_schedule_have_their_requests_of_it
    plan = Load::Plan.build("http://127.0.0.1/", rate: 10, requests: 102)

    assert_equal [77, 25], plan.split([3, 1]).map(&:limit)
    assert_raises(Cuttle::UsageError) { Load::Plan.build("http://127.0.0.1/", rate: 10, requests: 3).split([3, 1]) }
  end

  def test_plans_survive_a_journey
    plan = Load::Plan.build("http://127.0.0.1/x", rate: 10, poisson: true, body: "\xFF", headers: [%w[A b]],
timeout: 3, seed: 9)
    copy = Load::Plan.from_wire(JSON.parse(JSON.generate(plan.to_wire)))

    assert_equal plan.to_core("address"), copy.to_core("address")
    assert_equal plan.settings, copy.settings
  end

  def test_units
    assert_equal [10, 0.5, 120, 0.00025, 3, 1.5],
                 %w[10s 500ms 2m 250us 3 1.5].map { |text| Load::Units.seconds(text, "x").round(9) }
    assert_equal [16_000, 1024, 5], %w[16k 1KiB 5].map { |text| Load::Units.octets(text, "x") }
    %w[s 10x -1 1e9y].each { |text| assert_raises(Cuttle::UsageError, text) { Load::Units.seconds(text, "x") } }
    assert_equal ["999 ns", "1.00 us", "12.3 ms", "123 ms", "2.00 s", "3600 s"],
                 [999, 1000, 12_345_678, 123_456_789, 2e9, 3600e9].map { |time| Load::Units.time(time) }
    assert_equal ["1.235 s", "90 s", "2 min 30.3 s", "3 min", "3 min"],
                 [1.2346, 90, 150.3, 179.96, 180].map { |seconds| Load::Units.duration(seconds) }
  end
end
