# frozen_string_literal: true

require "test_helper"

# env["cuttle.queue_time"]: seconds that a request waited for a thread, from its router on where that says so.
class TestQueueTime < HttpCase
  AGO = 100 # seconds: more than any test takes, so that the router's word and our own measure are told apart

  def setup
    super
    app { |env| [200, {}, [env["cuttle.queue_time"].class.to_s, " ", env["cuttle.queue_time"].to_s]] }
  end

  def test_every_request_has_one
    open_client do |client|
      3.times { assert_operator waited(client), :<, AGO }
    end
  end

  # With the same names in each, of which one env is made for all (usual.h).
  def test_many_requests_of_one_router
    open_client do |client|
      [1, 3, 2, 5, 4].each do |times|
        field = format("X-Request-Start: t=%.3f", Time.now.to_f - (times * AGO))
        assert_in_delta times * AGO, waited(client, "Accept: a", field), AGO / 2
      end
    end
  end

  # nginx: t=${msec}; Heroku: milliseconds; Apache: t=%t; and whatever lies between.
  def test_what_routers_say
    start = Time.now.to_r - AGO
    [
      format("t=%.3f", start), format("%.3f", start), format("%.6f", start), start.to_i, "t=#{start.to_i}",
      (start * 1_000).to_i, "t=#{(start * 1_000).to_i}", format("t=%.2f", start * 1_000),
      (start * 1_000_000).to_i, "t=#{(start * 1_000_000).to_i}", (start * 1_000_000_000).to_i
    ].each { |value| assert_in_delta AGO, waited_since(value), AGO / 2, value }
  end

  def test_the_first_router_counts
    first, second = [2 * AGO, AGO].map { |age| format("t=%.3f", Time.now.to_f - age) }
    assert_operator waited_since("#{first}, #{second}"), :>, 1.5 * AGO
    open_client do |client|
      assert_operator waited(client, "X-Request-Start: #{first}", "X-Request-Start: #{second}"), :>, 1.5 * AGO
    end
  end

  # More than an hour old, in the future, or no time at all: our own measure.
  def test_what_nobody_believes
    now = Time.now.to_f
    [
      now - 4_000, now + 100, (now * 1_000).to_i + 60_000, 0, 1, -now, "", "t=", "t", "x", "t=x", "t=t=#{now}",
      "#{now - AGO}x",
      "0x#{now.to_i.to_s(16)}", "1e9", "9" * 18, "9" * 19, "9" * 20, "9" * 400, "t=.5", "#{(now - AGO).to_i}.5.5",
      "NaN", "t= #{now - AGO}"
    ].each { |value| assert_operator waited_since(value), :<, AGO / 2, value.to_s }
  end

  private

  def waited(client, *fields)
    type, seconds = client.ask(request("GET / HTTP/1.1", *fields)).body.split
    assert_equal "Float", type
    assert_operator seconds.to_f, :>=, 0
    seconds.to_f
  end

  def waited_since(value) = open_client { |client| waited(client, "X-Request-Start: #{value}") }
end

# How long it is, where the one thread is in the app meanwhile.
class TestTimeInQueue < Minitest::Test
  include Serving

  def test_from_completion_to_the_thread
    gate = Thread::Queue.new
    app = ->(env) { [200, {}, [env["PATH_INFO"] == "/hold" ? gate.pop : env["cuttle.queue_time"].to_s]] }
    serving(app, engine: "hybrid", threads: 1, max_queue: 9) do |server|
      client(server) do |holder|
        client(server) do |waiter|
          waiter.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").response # so that accept is long ago
          holder.write("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
          eventually("a request in the app") { gate.num_waiting == 1 }
          assert_between(*observe(server, gate, waiter))
        end
      end
    end
  end

  private

  # The least and the most that it may be, and what it was.
  def observe(server, gate, waiter)
    before = now
    waiter.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    eventually("a request that waits") { server.stats[:ready] == 1 }
    waits = now
    eventually("some time") { now - waits > 0.05 }
    opened = now
    gate << "held"
    seconds = waiter.response.body.to_f
    [opened - waits, now - before, seconds]
  end

  def assert_between(least, most, seconds)
    assert_operator seconds, :>=, least
    assert_operator seconds, :<=, most
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
