# frozen_string_literal: true

module EngineContract
  module Refusals
    def assert_refusal(response)
      assert_equal 503, response.status
      assert_match(/\A[1-9]\d*\z/, response["retry-after"])
    end

    private

    def with_short_queue(&block) = with_shared_server(*bounded, "--queue-timeout", "0.3", said: "", &block)

    # As #hold_all, for a server with a short queue timeout. If its threads run late, a request is refused although a
    # thread is free, and the client sends it again.
    def hold_all_in_time
      Array.new(capacity) { eventually("a request in the app") { hold_in_time } }
    end

    # A client whose request is in the app; nil if it was refused.
    def hold_in_time
      gate = "#{self.class.object_id}-#{object_id}-in-time-#{@held += 1}"
      client = connect.write(get("/hold?#{gate}"))
      eventually("an answer, or a request in the app") { entered?(gate) || client.heard?(0) }
      return client if entered?(gate)

      assert_refusal client.response
      nil
    end

    # The first response on a new connection that is not a refusal for waiting too long.
    def fetch_in_time(target)
      eventually("an answer of the app") do
        response = open_client { |client| client.ask(get(target, "Connection: close")) }
        response.status == 503 ? assert_refusal(response) && nil : response
      end
    end
  end

  # Overload of all workers together: no worker may leave waiting requests to another one that is as busy.
  module ShedsLate
    include Refusals

    def test_requests_that_wait_too_long_are_refused
      skip "clients that wait are in the backlog" unless traits.evented?

      with_short_queue do
        await_all
        holders = hold_all_in_time
        clients = Array.new(3) { connect.tap { |client| assert_refusal client.ask(get("/")) } }
        open_gates
        holders.each { |client| assert_equal 200, client.response.status }
        clients.each { |client| eventually("an answer") { ask_again(client, get("/")).status == 200 } }
      end
    end
  end

  # Overload: requests that wait too long, or behind too many others, are answered with 503 immediately while every
  # thread is in the app.
  module Sheds
    include Refusals

    QUEUE = 2

    def test_requests_beyond_the_queue_are_refused_at_once
      with_server(*bounded, "--max-queue", QUEUE.to_s) do
        holders = hold_all
        clients = Array.new(QUEUE + 3) { connect.write(get("/")) }
        refused = three_refused(clients).each { |client| assert_refusal client.response }
        open_gates
        (holders + clients - refused).each { |client| assert_equal 200, client.response.status }
        refused.each { |client| assert_equal 200, client.ask(get("/")).status } # on the same connection
      end
    end

    def test_requests_beyond_the_queue_are_refused_while_every_thread_is_in_a_callback_after_its_response
      with_server(*bounded, "--max-queue", QUEUE.to_s) do
        hold_all(action: "greet_and_hold").each { |client| assert_equal "hello", client.response.body }
        clients = Array.new(QUEUE + 3) { connect.write(get("/")) }
        three_refused(clients).each { |client| assert_refusal client.response }
      end
    end

    # The next request's answer begins where the refusal ends.
    def test_refusals_are_framed
      with_server(*bounded, "--max-queue", "1") do
        holders = hold_all
        waits, client = one_waits_and_one_is_refused
        assert_refusal client.ask("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", head: true)
        assert_refusal client.ask(post("/digest", "z" * 100_000))
        client.write(get("/") * 3)
        3.times { assert_refusal client.response }
        assert_predicate client.ask(get("/", "Connection: close")), :close?
        assert_equal :closed, client.ending
        open_gates
        [*holders, waits].each { |one| assert_equal 200, one.response.status }
      end
    end

    # /push answers how many of them have run. The request that waits too long was behind them.
    def test_requests_whose_clients_have_gone_never_run
      with_short_queue do
        holders = hold_all_in_time
        20.times { connect.write(get("/push?gone")).reset }
        assert_refusal connect.ask(get("/push?late"))
        open_gates
        holders.each(&:response)
        assert_equal "1", fetch_in_time("/push?here").body
      end
    end

    def test_stop_answers_what_waits
      with_server(*bounded, "--max-queue", "50", "--queue-timeout", "30") do |server|
        holders = hold_all
        clients = Array.new(8) { connect.write(get("/")) }
        Process.kill("TERM", server.pid)
        open_gates
        (holders + clients).each { |client| assert_equal 200, client.response.status }
        eventually("the server's end") { !server.running? }
      end
    end

    private

    def three_refused(clients)
      eventually("three refusals") { clients.select { |client| client.heard?(0) }.then { |all| all if all[2] } }
    end

    def one_waits_and_one_is_refused
      clients = Array.new(2) { connect.write(get("/")) }
      refused = eventually("a refusal") { clients.find { |client| client.heard?(0) } }
      assert_refusal refused.response
      [(clients - [refused]).first, refused]
    end
  end
end
