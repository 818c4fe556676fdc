# frozen_string_literal: true

require "test_helper"
require "net/http"

# Services::Upstream, and the work app that waits for it.
class TestUpstream < Minitest::Test
  include Eventually

  def setup
    @upstream = Cuttle::Lab::Apps::Services::Upstream.start(delay_ms: 1)
  end

  def teardown
    @upstream.stop
  end

  def test_it_answers_after_the_delay
    assert_operator elapsed { assert_equal "upstream\n", get("/?delay_ms=120") }, :>=, 0.12
  end

  def test_many_wait_at_once
    waiting = Array.new(20) { Thread.new { get("/?delay_ms=60000") } }
    eventually { waiting.all? { |thread| thread.status == "sleep" } }
    assert_equal "upstream\n", get("/?delay_ms=1")
    assert(waiting.all?(&:alive?))
  ensure
    waiting&.each { |thread| thread.kill.join }
  end

  def test_it_keeps_connections
    Net::HTTP.start("127.0.0.1", @upstream.port) do |http|
      assert_equal %w[200 200], Array.new(2) { http.get("/").code }
      assert_predicate http, :started?
    end
  end

  def test_two_requests_at_once_on_a_connection_are_answered_in_turn
    WireClient.open(@upstream.port) do |client|
      client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 2)
      assert_equal [200, 200], Array.new(2) { client.response.status.to_i }
    end
  end

  def test_the_work_app_waits_for_it
    app = Cuttle::Lab::WorkApp.from_environment(@upstream.environment.merge("WORK_CPU_MS" => "0"))
    status = nil
    took = elapsed { status, = app.call({ "QUERY_STRING" => "iowait_ms=90&slices=3&response_chars=2" }) }
    assert_equal 200, status
    assert_operator took, :>=, 0.09
  end

  def test_one_line_names_an_upstream_that_is_gone
    url = @upstream.url
    @upstream.stop
    status, _, body = Cuttle::Lab::WorkApp.new(upstream: url, cpu_ms: 0).call({ "QUERY_STRING" => "" })
    assert_equal 502, status
    assert_match(/\Aupstream: .*refused.*\n\z/, body.join)
  end

  # However the lab ends: its end of the pipe is closed then.
  def test_it_ends_when_its_starter_does
    reader, writer = IO.pipe
    starter = fork do
      reader.close
      upstream = Cuttle::Lab::Apps::Services::Upstream.start
      writer.puts upstream.pid
      writer.close
      sleep
    end
    writer.close
    pid = reader.gets.to_i
    Process.kill("KILL", starter)
    Process.wait(starter)
    eventually("the upstream's end") { !File.exist?("/proc/#{pid}") || File.read("/proc/#{pid}/stat").include?(") Z ") }
  end

  private

  def get(target)
    Net::HTTP.get("127.0.0.1", target, @upstream.port)
  end
end
