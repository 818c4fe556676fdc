# frozen_string_literal: true

require "test_helper"
require "json"

# Sessions: checks, cookies, values from responses, redirects.
class TestLoadSessions < Minitest::Test
  Load = Cuttle::Load
  Request = Cuttle::Load::Request

  # Loads a server whose answers are the block's; returns the result and the server.
  def load(path: "/", **options, &answer)
    server = Answering.new(&answer)
    [Load.run(server.url(path), threads: 1, connections: 1, **options), server]
  ensure
    server&.close
  end

  def errors(result)
    result.errors.select { |_, count| count.positive? }
  end

  # --- checks ---

  def test_checks
    answer = ->(request) { [200, [], request.path == "/odd" ? "one\n" : "two\n"] }
    mix = [Request.new(path: "/odd", check: "one"), Request.new(path: "/even", check: ["two", "/^t.o$/"]),
           Request.new(path: "/wrong", check: "/three|four/"), Request.new(path: "/free")]
    result, = load(requests: 40, mix: mix, in_order: true, &answer)

    assert_equal({ check: 10 }, errors(result))
    assert_equal [40, 30], [result.responses, result.good]
    assert_equal 10, result.entries.find { |entry| entry.name == "GET /wrong" }.errors[:check]
  end

  # By length, in chunks, and until the connection ends: octets of the framing are not of the body.
  def test_bodies_of_each_framing
    heads = { "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nlong text" => :answer,
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nlon\r\n6\r\ng text\r\n0\r\n\r\n" => :answer,
              "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nlong text" => :close }
    heads.each do |answer, manner|
      Load::TestServers.open(:null, answer: answer, manner: manner) do |server|
        assert_empty errors(Load.run(server.url, requests: 20, connections: 2, check: ["/\\Along text\\z/"])), answer
        assert_equal 20, Load.run(server.url, requests: 20, connections: 2, check: ["OK"]).errors[:check]
      end
    end
  end

  def test_checks_of_pipelined_responses
    Load::TestServers.open do |server|
      result = Load.run(server.url, requests: 1000, connections: 2, pipeline: 16, check: ["/\\AHello, world!\\z/"])

      assert_equal [1000, 0], [result.responses, result.failures]
    end
  end

  def test_a_wrong_status_is_counted_once
    result, = load(requests: 5, check: ["fine"]) { [500, [], "broken"] }

    assert_equal({ status_5xx: 5 }, errors(result))
  end

  def test_bodies_are_looked_at_up_to_a_limit
    large = "x" * ((1 << 20) - 4)
    assert_empty(errors(load(requests: 2, check: ["last"]) { [200, [], "#{large}last"] }.first))
    assert_equal({ check: 2 }, errors(load(requests: 2, check: ["last"]) { [200, [], "#{large}xlast"] }.first))
  end

  # --- cookies ---

  def test_cookies_are_kept_for_each_connection
    result, server = load(requests: 12, connections: 3, cookies: true) do |request|
      said = request["cookie"] ? [] : [["Set-Cookie", "id=#{request.connection}; Path=/; HttpOnly"]]
      [200, said, ""]
    end

    assert_empty errors(result)
    server.requests.group_by(&:connection).each do |connection, requests|
      assert_equal [nil, *["id=#{connection}"] * (requests.length - 1)], requests.map { |request| request["cookie"] }
    end
  end

  def test_a_session_outlives_its_connection
    _, server = load(requests: 4, cookies: true, keep_alive: false) do |request|
      [200, [["Set-Cookie", "n=#{request.connection}"], %w[Connection close]], ""]
    end

    assert_equal [nil, "n=1", "n=2", "n=3"], server.requests.map { |request| request["cookie"] }
  end

  def test_cookies_change_and_go
    steps = [["a=1", "b=2", "c=3"], ["b=4"], ["a=; Max-Age=0"], ["c=; expires=Thu, 01 Jan 1970 00:00:00 GMT"],
             ["=x", "y"], ["b=5;Max-Age=-1"], []]
    count = -1
    _, server = load(requests: 7, cookies: true) do
      [200, steps[count += 1].map { |cookie| ["Set-Cookie", cookie] }, ""]
    end

    assert_equal [nil, "a=1; b=2; c=3", "a=1; c=3; b=4", "c=3; b=4", "b=4", "b=4", nil],
                 server.requests.map { |request| request["cookie"] }
  end

  def test_cookies_that_do_not_fit_are_left_out
    _, server = load(requests: 2, cookies: true) do
      [200, Array.new(3) { |number| ["Set-Cookie", "c#{number}=#{"x" * 4000}"] }, ""]
    end

    assert_equal "c0=#{"x" * 4000}; c1=#{"x" * 4000}", server.requests.last["cookie"]
  end

  def test_own_cookie_fields_give_way
    _, server = load(requests: 2, cookies: true, headers: [%w[Cookie mine=1], %w[A b]]) do
      [200, [["Set-Cookie", "id=1"]], ""]
    end

    assert_equal [nil, "id=1"], server.requests.map { |request| request["cookie"] }
    assert_equal %w[b b], server.requests.map { |request| request["a"] }
  end

  # --- values ---

  def test_a_value_is_taken_and_sent
    form = Request.new(path: "/new", take: { "token" => "name=\"token\" value=\"([^\"]*)\"" })
    post = Request.new(method: "POST", path: "/posts?t={{token}}", body: "token={{token}}&text=hi",
                       headers: [["Content-Type", "application/x-www-form-urlencoded"], ["X-Token", "<{{token}}>"]])
    result, server = load(requests: 6, mix: [form, post], in_order: true) do |request|
      [200, [], request.path == "/new" ? %(<input name="token" value="a b+/=#{request.connection}é">) : "ok"]
    end
    posted = server.requests.select { |request| request.method == "POST" }

    assert_empty errors(result)
    assert_equal ["GET /new", "POST /posts?t=a%20b+/=1%C3%A9"] * 3, server.paths
    assert_equal ["token=a%20b%2B%2F%3D1%C3%A9&text=hi"], posted.map(&:body).uniq
    assert_equal ["<a b+/=1é>".b], posted.map { |request| request["x-token"].b }.uniq
  end

  # If a request's value is not known yet, the request that provides it is sent first.
  def test_what_provides_a_value_is_sent_first
    mix = [Request.new(path: "/list", take: { "id" => "id=(\\d+)" }, weight: 0.001),
           Request.new(path: "/show/{{id}}", take: { "key" => "key=(\\w+)" }, weight: 0.001),
           Request.new(path: "/open/{{key}}", name: "open", weight: 100)]
    answers = { "/list" => "id=7", "/show/7" => "key=k7" }
    result, server = load(requests: 5, mix: mix) { |request| [200, [], answers.fetch(request.path, "")] }

    assert_equal ["GET /list", "GET /show/7", *["GET /open/k7"] * 3], server.paths
    assert_equal 3, result.entries.find { |entry| entry.name == "open" }.responses
  end

  def test_each_connection_has_its_own_values
    mix = [Request.new(path: "/new", take: { "id" => "(\\d+)" }), Request.new(path: "/{{id}}", name: "show")]
    _, server = load(requests: 30, connections: 3, mix: mix, in_order: true) do |request|
      [200, [], request.connection.to_s]
    end

    shown = server.requests.reject { |request| request.path == "/new" }
    assert_operator shown.length, :>=, 13
    assert_equal shown.map { |request| "/#{request.connection}" }, shown.map(&:path)
  end

  def test_a_value_that_is_not_there_fails_the_check
    mix = [Request.new(path: "/new", take: { "id" => "id=(\\d*)" }), Request.new(path: "/{{id}}")]
    ["no id", "", "id=\0".b].each do |body|
      result, server = load(requests: 3, mix: mix, in_order: true) { [200, [], body] }

      wanted = body.empty? || body == "no id" ? 3 : 0
      assert_equal wanted, result.errors[:check], body
      assert_equal ["GET /new"] * 3, server.paths if wanted.positive?
    end
  end

  # Octets that would end a head early are not taken as a value.
  def test_values_with_controls_are_refused
    mix = [Request.new(path: "/new", take: { "x" => "x=([^;]*);" }), Request.new(path: "/", headers: [["X", "{{x}}"]])]
    result, = load(requests: 3, mix: mix, in_order: true) { [200, [], "x=a\r\nInjected: yes;"] }
    long, = load(requests: 3, mix: mix, in_order: true) { [200, [], "x=#{"y" * 4097};"] }

    assert_equal [3, 3], [result, long].map { |each| each.errors[:check] }
  end

  def test_wrong_values_are_refused
    [[Request.new(path: "/{{x}}"), Request.new(take: { "y" => "(a)" })],
     [Request.new(path: "/{{x}}", take: { "x" => "(a)" })],
     [Request.new(path: "/{{x}}", take: { "y" => "(a)" }),
      Request.new(path: "/{{y}}", take: { "x" => "(a)" })]].each do |mix|
      error = assert_raises(Cuttle::UsageError) { Load::Plan.build("http://a/", mix: mix) }
      assert_match(/\A{{[xy]}}: /, error.message)
    end
    [{ take: { "x" => "a" } }, { take: { "x" => "(a)(b)" } }, { take: { "x y" => "(a)" } }, { take: [] }, { check: 5 },
     { check: "" }, { check: "/(/" }, { take: { "x" => 5 } }].each do |options|
      assert_raises(Cuttle::UsageError, options.inspect) { Request.new(**options) }
    end
    [{ cookies: true }, { follow: 1 }].each do |options|
      assert_raises(Cuttle::UsageError) { Load::Plan.build("http://a/", pipeline: 2, **options) }
    end
    assert_raises(Cuttle::UsageError) { Load::Plan.build("http://a/", follow: -1) }
  end

  # Without "take", braces are nothing special.
  def test_braces_without_values_are_sent_as_they_are
    _, server = load(requests: 1, mix: [Request.new(path: "/{{x}}")], cookies: true) { [200, [], ""] }

    assert_equal ["GET /{{x}}"], server.paths
  end

  # --- redirects ---

  def redirects(status, to, method: "GET", body: nil, **options)
    result, server = load(requests: 1, method: method, body: body, path: "/a/b?c", follow: 3, **options) do |request|
      request.path == "/a/b?c" ? [status, [["Location", to]], "over there"] : [200, [], "here"]
    end
    [result, server]
  end

  def test_redirects_are_followed
    { "/x?y#z" => "/x?y", "x" => "/a/x", "?y" => "/a/b?y", "//HOST/x" => "/x", "http://HOST/x" => "/x",
      "HTTP://HOST" => "/", "http://HOST?q" => "/?q", "/a b" => "/a%20b" }.each do |location, path|
      result, server = load(requests: 1, path: "/a/b?c", follow: 3) do |request|
        request.path == "/a/b?c" ? [302, [["Location", location.sub("HOST", request["host"])]], ""] : [200, [], "x"]
      end

      assert_equal ["GET /a/b?c", "GET #{path}"], server.paths, location
      assert_equal [1, 1, { 200 => 1 }, {}], [result.sent, result.responses, result.statuses, errors(result)]
      assert_nil mark(result, :redirects)
    end
  end

  # The name that the request itself gives the server, by -H or in a mix.
  def test_redirects_to_the_own_host_are_followed
    { "App.test" => "http://app.test/x", "app.test:80" => "http://app.test?q", "app.test" => "//APP.TEST:80/x",
      " app.test:81 " => "http://app.test:81/x" }.each do |host, location|
      [{ headers: [["Host", host]] },
       { mix: [Request.new(path: "/a/b?c", headers: [["Host", host]])] }].each do |options|
        result, server = redirects_of(location, **options)

        assert_equal [{ 200 => 1 }, 2], [result.statuses, server.requests.length], location
        assert_equal [host.strip], server.requests.map { |request| request["host"].strip }.uniq
      end
    end
  end

  def test_redirects_past_the_own_host_are_responses
    ["http://app.test:81/x", "https://app.test/x", "https://app.test:80/x", "http://app.test.other/", "http://app.tes/",
     "http:///x", "http:x", "http:", "//", "//:80/x", "http://app.test@other/x"].each do |location|
      assert_equal({ 302 => 1 }, redirects_of(location, headers: [["Host", "app.test"]]).first.statuses, location)
    end
  end

  def mark(result, name)
    result.marks.find { |mark| mark.name == name }&.text
  end

  def redirects_of(location, **options)
    load(requests: 1, path: "/a/b?c", follow: 3, **options) do |request|
      request.path == "/a/b?c" ? [302, [["Location", location]], ""] : [200, [], "x"]
    end
  end

  def test_redirects_to_elsewhere_are_responses
    ["http://other.test/x", "https://127.0.0.1/x", "//other.test/", "mailto:a@b", "/#{"x" * 5000}"].each do |location|
      result, server = redirects(302, location)

      assert_equal 1, server.requests.length, location
      assert_equal [{ 302 => 1 }, {}], [result.statuses, errors(result)]
      assert_match(/1 of 1 response led to another server/, mark(result, :redirects))
    end
  end

  def test_methods_after_a_redirect
    { 301 => "GET", 302 => "GET", 303 => "GET", 307 => "POST", 308 => "POST" }.each do |status, method|
      _, server = redirects(status, "/x", method: "POST", body: "hello",
                                          headers: [%w[Content-Type text/plain], %w[A b]])
      after = server.requests.last

      assert_equal [method, method == "POST" ? "hello" : "", "b"], [after.method, after.body, after["a"]], status
      assert_equal method == "POST", !after["content-type"].nil?
    end
    assert_equal %w[HEAD HEAD], redirects(303, "/x", method: "HEAD").last.requests.map(&:method)
    assert_equal %w[PUT PUT], redirects(302, "/x", method: "PUT", body: "a").last.requests.map(&:method)
  end

  def test_without_follow_a_redirect_is_a_response
    result, = load(requests: 3) { [302, [%w[Location /x]], ""] }

    assert_equal [{ 302 => 3 }, 0], [result.statuses, result.failures]
  end

  def test_a_circle_ends
    result, server = load(requests: 2, follow: 4) { [302, [%w[Location /again]], ""] }

    assert_equal [{ redirect: 2 }, 10, 2], [errors(result), server.requests.length, result.responses]
  end

  # The time of a request runs until the last response of its redirects, on however many connections they were.
  def test_the_time_is_the_whole_chain
    [%w[Connection close], %w[A b]].each do |field|
      result, server = load(requests: 4, follow: 2, connections: 2) do |request|
        sleep 0.05
        request.path == "/" ? [302, [%w[Location /x], field], ""] : [200, [], ""]
      end

      assert_equal 8, server.requests.length
      assert_operator result.latency.min, :>=, 0.1e9
      assert_operator result.service.min, :>=, 0.1e9
      assert_equal [4, 4], [result.sent, result.latency.count]
    end
  end

  # A login: cookies of the redirect itself are kept, and the check is of where it leads.
  def test_cookies_and_checks_with_redirects
    options = { method: "POST", follow: 1, cookies: true, check: ["welcome"] }
    result, server = load(requests: 1, path: "/login", **options) do |request|
      request.path == "/login" ? [303, [%w[Location /home], ["Set-Cookie", "s=1"]], "no"] : [200, [], "welcome"]
    end

    assert_empty errors(result)
    assert_equal "s=1", server.requests.last["cookie"]
  end

  def test_an_open_loop_has_sessions_too
    mix = [Request.new(path: "/new", take: { "id" => "(\\d+)" }, check: "id"),
           Request.new(path: "/{{id}}", name: "show")]
    result, server = load(rate: 200, duration: 0.5, connections: 10, mix: mix, cookies: true, follow: 1) do |request|
      request.path == "/new" ? [200, [["Set-Cookie", "c=1"]], "id 5"] : [302, [%w[Location /new]], ""]
    end

    assert_equal [100, 100, {}], [result.sent, result.responses, errors(result)]
    assert_operator server.requests.length, :>, 100
  end

  # --- what servers may send ---

  # A head and a body, each in as many pieces as it has octets.
  def test_responses_in_pieces
    answer = "HTTP/1.1 302 Found\r\nSet-Cookie: a=b; Path=/\r\nlocation: \t/x?y \r\n" \
             "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    heard = in_pieces([answer, answer.sub("302", "200")]) do |url|
      result = Load.run(url, requests: 1, connections: 1, cookies: true, follow: 1, check: ["/\\Aabc\\z/"])

      assert_equal [{ 200 => 1 }, {}], [result.statuses, errors(result)]
    end

    assert_match(%r{\AGET / HTTP.*GET /x\?y HTTP.*Cookie: a=b\r\n\r\n\z}m, heard)
  end

  # Yields a URL whose answers come octet by octet. Returns what was sent there.
  def in_pieces(answers)
    listener = TCPServer.new("127.0.0.1", 0)
    heard = +""
    thread = Thread.new do
      until answers.empty?
        socket = listener.accept
        while (line = socket.gets)
          heard << line
          answers.shift.each_char { |octet| socket.write(octet) } if line == "\r\n"
        end
      end
    end
    yield "http://127.0.0.1:#{listener.local_address.ip_port}/"
    heard
  ensure
    thread&.kill&.join
    listener&.close
  end

  def test_rubbish_in_fields_and_bodies
    random = Random.new(Integer(ENV.fetch("SEED", 11)))
    pieces = ["=", ";", " ", "a", "b", "Max-Age=", "0", "Expires=", "\t", "/", "?", "#", "//", ":", "http:", "%",
              "\xFF", ","]
    rubbish = -> { Array.new(random.rand(9)) { pieces.sample(random: random).b }.join }
    mix = [Request.new(path: "/a", take: { "x" => "=([^;]*)" }),
           Request.new(path: "/{{x}}", body: "{{x}}", method: "POST")]
    result, server = load(requests: 2000, connections: 4, cookies: true, follow: 2, mix: mix) do
      [[200, 302, 303, 307, 404].sample(random: random),
       [["Set-Cookie", rubbish.call], ["Location", rubbish.call], ["Set-Cookie", rubbish.call]], rubbish.call]
    end

    assert_equal [2000, 2000], [result.responses, result.statuses.values.sum]
    assert_equal result.good, 2000 - result.errors.values_at(*Load::Result::WRONG).sum
    assert_operator server.requests.length, :>, 2000
  end

  # --- travelling ---

  def test_plans_with_sessions_survive_a_journey
    mix = [Request.new(path: "/new", take: { "id" => "(\\d+)" }, check: %w[a /b/i], name: "n"),
           Request.new(path: "/{{id}}")]
    plan = Load::Plan.build("https://h/", mix: mix, cookies: true, follow: 2, in_order: true)
    copy = Load::Plan.from_wire(JSON.parse(JSON.generate(plan.to_wire)))

    assert_equal plan.to_core("address"), copy.to_core("address")
    assert_equal plan.settings, copy.settings
  end

  def test_plain_plans_have_no_sessions
    assert_nil Load::Plan.build("http://h/").sessions
    assert_nil Load::Plan.build("http://h/").to_core("address")[:sessions]
  end
end
