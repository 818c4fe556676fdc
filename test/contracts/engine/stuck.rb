# frozen_string_literal: true

module EngineContract
  # --app-timeout: a request that the app does not begin to answer in time is answered with 503, and reported with a
  # backtrace.
  module Stuck
    TIMEOUT = "0.3"

    def test_stuck_requests_are_answered_for
      with_stuck_server do |server|
        client = hold
        assert_answered_for client
        where = %r{(\t.*\n)*\t.*app\.rb:\d+:in .*hold'$}
        assert_reported(server, %r{^cuttle: "GET /hold" has been stuck in the app for \d+\.\d s .* is at\n#{where}})
        open_gates
        assert_reported(server, /the request was answered with 503.*\(IOError\)/)
        assert_serves
      end
    end

    def test_apps_that_come_back_late_harm_nobody
      with_stuck_server do |server|
        %w[hold_and_fail hold_and_hint hold_and_hijack].each.with_index(1) do |action, count|
          assert_answered_for hold(action: action)
          open_gates
          eventually("the app's error") { server.err.scan(/: .* \((?:IOError|RuntimeError)\)$/).length == count }
          assert_serves
        end
        assert_whole_after_all
      end
    end

    # Rack::Lock releases its lock there, and Rails ends its work for the request.
    def test_bodies_that_come_late_are_closed_once
      with_stuck_server do
        (1..3).each do |count|
          assert_answered_for hold(action: "hold_and_close")
          open_gates
          eventually("its close") { fetch("/closed") == count.to_s }
        end
      end
    end

    # Other requests are stuck meanwhile, which shows that the time is over.
    def test_responses_that_have_begun_are_not_stuck
      skip "the app runs on the one thread" if traits.inline?

      with_stuck_server do
        stream = hold(action: "begin")
        assert_answered_for hold
        open_gates
        assert_equal "begun, held", stream.response.body
        assert_equal 200, stream.ask(get("/")).status
      end
    end

    # Each request is answered once, by the app or for it, and later responses on the connection are complete.
    def test_apps_that_return_at_the_very_moment
      with_stuck_server("--app-timeout", "0.03") do
        statuses = Array.new(4) { Thread.new { Array.new(40) { |number| race(number) }.flatten } }.flat_map(&:value)
        assert_empty statuses - [200, 503]
        assert_whole_after_all
      end
    end

    # The process can't wait for an app that may never end. Requests behind it are answered.
    def test_stop_does_not_wait_for_stuck_requests
      with_stuck_server(*bounded, "--max-queue", "50") do |server|
        stuck = hold_all
        stuck.each { |client| assert_answered_for client }
        late = connect.write(get("/"))
        Process.kill("TERM", server.pid)
        assert_includes [503, nil], answer_or_end(late)
        eventually("the server's end", within: DEADLINE) { !server.running? }
      end
    end

    private

    # The test examines its errors.
    def with_stuck_server(*flags)
      @server = self.class.start("--app-timeout", TIMEOUT, *flags)
      assert @server.running?, @server.err
      yield @server
      leave
      assert_equal 0, @server.stop.exitstatus, @server.err
    ensure
      leave
      @server&.finish
      @server = nil
    end

    def assert_answered_for(client)
      response = client.response
      assert_equal 503, response.status
      assert_predicate response, :close?
      assert_equal :closed, client.ending
    end

    def assert_reported(server, pattern)
      eventually("#{pattern.inspect} in #{server.err}") { server.err.match?(pattern) }
    end

    # The statuses of a request and of the one that follows it. A loaded machine may need too long for that, too.
    def race(number)
      WireClient.open(port, deadline: DEADLINE) do |client|
        answers = [client.ask(get("/nap?#{0.025 + number % 10 * 0.001}"))]
        answers << client.ask(get("/echo?next")) unless answers.last.status == 503
        assert_equal "next", answers.last.body if answers.length == 2 && answers.last.status == 200
        assert_equal :closed, client.ending if answers.last.status == 503
        answers.map(&:status)
      end
    end

    # A loaded machine may need more time for some requests than the app is allowed.
    def assert_whole_after_all
      eventually("whole answers") do
        clients = Array.new(at_once) { connect.write(get("/echo?whole", "Connection: close")) }
        late, whole = clients.map(&:response).partition { |response| response.status == 503 }
        assert_empty whole.map { |response| [response.status, response.body] }.uniq - [[200, "whole"]]
        late.empty?
      end
    end

    # nil if the listener closed before the connection was accepted.
    def answer_or_end(client)
      client.response.status
    rescue WireClient::Truncated
      nil
    end
  end
end
