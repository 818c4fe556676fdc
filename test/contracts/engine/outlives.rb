# frozen_string_literal: true

module EngineContract
  # What an app keeps beyond the end of its request is dead: it raises, and the next request of that connection, which
  # behind a proxy is another user's, goes its way.
  module Outlives
    # Took the socket from under the next request, which the app was just answering.
    def test_a_kept_hijack_takes_no_later_request
      assert_dead "hijack"
    end

    # Sent its 103 ahead of the next request's response.
    def test_kept_early_hints_reach_no_later_response
      assert_dead "early_hints"
    end

    # Gave the body of a request that had long ended, out of memory or out of a file.
    def test_a_kept_input_is_closed
      [11, 300_000].each do |size|
        client = connect
        assert_equal "kept", client.ask(post("/keep?input", "z" * size)).body
        said = client.ask(post("/use?input", "another body")).body
        assert_includes ["IOError", "gave nil", "gave \"\""], said[0, 100], "#{size} octets"
        assert_equal "next", client.ask(get("/echo?next")).body
      end
    end

    # Wrote into the next response.
    def test_a_kept_stream_writes_into_no_later_response
      %w[write <<].each { |verb| assert_equal "second IOError", stale(verb) }
    end

    # Ended the next response, or sent what there was of it.
    def test_a_kept_stream_neither_flushes_nor_closes_a_later_response
      %w[flush close close_write].each { |verb| assert_match(/\Asecond (IOError|gave .*)\z/, stale(verb)) }
    end

    # Wrote into the next response.
    def test_a_kept_block_of_each_writes_into_no_later_response
      client = connect
      assert_equal "first", client.ask(get("/keep_block")).body
      assert_equal "second IOError", client.ask(get("/use_block")).body
      assert_equal "next", client.ask(get("/echo?next")).body
    end

    # The number of an ended connection's descriptor is the next connection's.
    def test_what_is_left_of_an_aborted_response_writes_into_no_other_connection
      skip "another worker may have the next connection" if several?

      [%w[/keep_stream?raise /use_stream?write], %w[/keep_block?raise /use_block]].each do |keep, use|
        assert_raises(WireClient::Truncated) { fetch(keep) }
        assert_equal "second IOError", fetch(use), keep
      end
    end

    # What one request leaves in its lists is called once, and what comes into them later is not.
    def test_lists_of_callbacks_are_each_requests_own
      skip "each worker has callbacks of its own" if several?

      with_server do
        client = connect
        called = %w[first second third].flat_map do |name|
          assert_equal "fresh", client.ask(get("/callbacks?#{name}")).body
          eventually("its callbacks") { ask_again(client, get("/called")).body.split.count(name) == 2 }
          [name, name]
        end
        assert_equal called, client.ask(get("/called")).body.split
      end
    end

    private

    def assert_dead(what)
      client = connect
      assert_equal "kept", client.ask(get("/keep?#{what}")).body
      response = client.write(get("/use?#{what}")).response # the first that comes, be it an interim one
      assert_equal [200, "IOError"], [response.status, response.body]
      assert_equal "next", client.ask(get("/echo?next")).body
    end

    # What the app hears that uses a stream which was closed in the connection's last response.
    def stale(verb)
      client = connect
      assert_equal "first", client.ask(get("/keep_stream")).body
      said = client.ask(get("/use_stream?#{verb}")).body
      assert_equal "next", client.ask(get("/echo?next")).body, verb
      said
    end
  end
end
