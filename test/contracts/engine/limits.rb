# frozen_string_literal: true

module EngineContract
  # --max-connections: further clients wait in the kernel's backlog, and are answered when a place is free.
  module Places
    MOST = 2

    def test_connections_beyond_the_limit_wait_and_are_answered
      with_server("--max-connections", MOST.to_s) do
        holders = Array.new(places) { connect.write("GET /echo?held HTTP/1.1\r\n") }
        eventually("as many connections as there may be", every: 0.1) { accepted == places } # each look is long
        late = Array.new(places + 2) { |number| connect.write(get("/echo?#{number}", "Connection: close")) }
        refute late.first.heard?(0.3), "one connection more than there may be"
        found = connections
        assert_equal places, found.length, found.join
        holders.each { |client| client.write("Host: a\r\nConnection: close\r\n\r\n") }
        holders.each { |client| assert_equal "held", client.response.body }
        late.each_with_index { |client, number| assert_equal number.to_s, client.response.body }
        20.times { assert_serves }
      end
    end

    # However a connection ends, another one gets its place.
    def test_a_place_is_free_again_whichever_side_ended_the_connection
      with_server("--max-connections", "1", "--header-timeout", "0.5", "--idle-timeout", "0.5", said: /on purpose/) do
        [-> { connect.close }, -> { connect.write("GET / H").reset }, -> { connect.write(get("/large?3000000")).reset },
         -> { connect.write("GET / HTTP/1.1\r\n") }, -> { connect.ask(get("/")) }, -> { connect.ask("GET / \r\n\r\n") },
         -> { connect.write(get("/break_off")).rest }, -> { connect.ask(get("/take_over")) }].each do |come|
          shares.times { come.call }
          assert_serves
        end
      end
    end

    private

    # The number of connections that all processes may have together. An engine that serves one connection at a time
    # never has more than one.
    def places = [MOST, traits.evented? ? MOST : at_once].min * shares

    # The server's connections, as the kernel lists them. Those in the backlog belong to no file (inode 0). The JVM
    # listens as if for IPv6.
    def accepted = connections.length

    # While connections are opened and closed, the kernel may list one of them twice.
    def connections
      %w[tcp tcp6].flat_map { |table| connections_in("/proc/net/#{table}") }.uniq { |line| line.split[9] }
    end

    def connections_in(table)
      own = format("0100007F:%04X ", port) # of 127.0.0.1: others may have the port at another address
      File.foreach(table).select do |line|
        next unless line.include?(own) # most lines are of connections that have ended

        _, local, _, state, *, inode = line.split[0..9]
        "#{local} ".end_with?(own) && state == "01" && inode != "0"
      end
    end
  end

  # --max-requests: that many requests on one connection, and then its end.
  module Quotas
    MOST = 3

    def test_the_response_to_a_connections_last_request_says_so
      with_quota do
        2.times do
          client = connect
          closes = Array.new(MOST) { client.ask(get("/")).close? }
          assert_equal [*[false] * (MOST - 1), true], closes
          assert_equal :closed, client.ending
        end
      end
    end

    def test_what_is_pipelined_behind_the_last_request_never_runs
      skip "each ractor's app counts for itself" if several?

      with_quota do
        client = connect.write(get("/push?x") * (MOST + 20))
        assert_equal %w[1 2 3], Array.new(MOST) { client.response.body }
        assert_equal :closed, client.ending
        assert_equal "4", fetch("/push?y")
      end
    end

    # The last response is complete, whatever it is, and however slowly the client reads it.
    def test_the_last_response_is_whole
      with_quota do
        ["/large?3000000", "/stream?3000000"].each do |target|
          client = connect(receive_buffer: 4_096).write(get("/") * (MOST - 1) + get(target))
          (MOST - 1).times { client.response }
          response = client.hurry(after: SLOWLY).response
          assert_equal [3_000_000, true], [response.body.bytesize, response.close?], target
          assert_equal :closed, client.ending
        end
      end
    end

    # A client of HTTP/1.0 that asks for keep-alive is promised the same number of requests as one of HTTP/1.1.
    def test_requests_of_every_kind_count
      with_quota do
        client = connect
        assert_equal "keep-alive", client.ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")["connection"]
        refute client.ask("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", head: true).close?
        last = client.ask("POST /digest HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabc")
        assert_equal %w[3 close], [last.body[/\d+/], last["connection"]]
        assert_equal :closed, client.ending
      end
    end

    private

    def with_quota(&block) = with_shared_server("--max-requests", MOST.to_s, said: "", &block)
  end
end
