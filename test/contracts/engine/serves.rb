# frozen_string_literal: true

module EngineContract
  # Requests in, responses out: a client can't see which engine serves.
  module Serves
    def test_serves
      assert_serves
    end

    def test_keeps_many_connections_alive
      clients = Array.new(traits.evented? ? 40 : 8) { connect }
      3.times do |round|
        clients.each_with_index { |client, i| client.write(get("/echo?#{round}-#{i}")) }
        clients.each_with_index { |client, i| assert_answered client, "#{round}-#{i}" }
      end
    end

    def test_answers_pipelined_requests_in_order
      client = connect
      client.write(Array.new(50) { |i| get("/echo?#{i}") }.join)
      50.times { |i| assert_equal i.to_s, client.response.body }
    end

    def test_takes_a_large_request_from_a_slow_client
      body = Random.new(1).bytes(3_000_000)
      client = connect
      StringIO.new(post("/digest", body)).each(nil, 50_000) { |piece| client.write(piece) && Thread.pass }
      assert_equal "3000000 #{Digest::SHA256.hexdigest(body)}", client.response.body
    end

    def test_gives_a_large_response_to_a_slow_client
      %w[/large?3000000 /stream?3000000].each do |target|
        client = connect(receive_buffer: 4_096)
        assert_equal 3_000_000, client.write(get(target)).hurry(after: SLOWLY).response.body.bytesize, target
        assert_equal "hello", ask_again(client, get("/")).body
      end
    end

    def test_slow_uploads_hold_up_nobody
      skip "each connection has its thread to the end" unless traits.evented?

      body = "z" * 200_000
      uploads = Array.new(capacity + 1) { connect.write(post("/digest", body)[0..-2]) }
      assert_serves
      uploads.each do |client|
        assert_equal "200000 #{Digest::SHA256.hexdigest(body)}", client.write("z").response.body
      end
    end

    def test_a_reader_that_does_not_read_holds_up_nobody
      skip "each connection has its thread to the end" unless traits.evented?

      readers = Array.new(capacity + 1) { connect(receive_buffer: 4_096).write(get("/large?8000000")) }
      readers.each { |client| assert client.heard?(DEADLINE) }
      assert_serves
      assert_equal 8_000_000, readers.last.hurry(after: SLOWLY).response.body.bytesize
    end

    # Each hammering connection always has a request waiting; a new one must still get its turn.
    def test_busy_connections_do_not_starve_new_ones
      enough = false
      hammers = Array.new(at_once + 1) { Thread.new { hammer until enough } }
      5.times { assert_serves }
    ensure
      enough = true
      hammers.each(&:join)
    end

    def test_the_env_says_whether_threads_and_processes_run_the_app
      multithread, multiprocess = fetch("/manners").scan(/true|false/).map { |word| word == "true" }
      assert_equal clustered?, multiprocess
      assert_equal at_once > 1, multithread
    end

    private

    def assert_answered(client, body)
      assert_equal body, client.final_response.body
    rescue WireClient::Truncated => error
      assert_empty error.received
      refute traits.evented?, "a connection that was kept alive ended"
      assert_equal body, connect.ask(get("/echo?#{body}")).body
    end

    # Pipelines until the connection ends.
    def hammer
      open_client do |client|
        client.write(get("/") * 20)
        30.times do
          client.write(get("/") * 10)
          10.times { client.response }
        end
      end
    rescue WireClient::Truncated
      nil # the engine served another connection
    end
  end
end
