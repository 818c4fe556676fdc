# frozen_string_literal: true

module EngineContract
  # Objects that an app keeps beyond the end of its request are dead: using them raises. They have no effect on the next
  # request of that connection, which behind a proxy belongs to another user.
  module Outlives
    # It took the socket from the next request while the app was answering it.
    def test_a_kept_hijack_takes_no_later_request
      assert_dead "hijack"
    end

    # It sent its 103 before the next request's response.
    def test_kept_early_hints_reach_no_later_response
      assert_dead "early_hints"
    end

    # It returned the body of a request that had long ended, from memory or from a file.
    def test_a_kept_input_is_closed
      [11, 300_000].each do |size|
        used = keep_and_use(post("/keep?input", "z" * size), post("/use?input", "another body"))
        assert_includes ["IOError", "gave nil", "gave \"\""], used.body[0, 100], "#{size} octets"
      end
    end

    # It wrote into the next response.
    def test_a_kept_stream_writes_into_no_later_response
      %w[write <<].each { |verb| assert_equal "second IOError", stale(verb) }
    end

    # It ended the next response, or sent the available part of it.
    def test_a_kept_stream_neither_flushes_nor_closes_a_later_response
      %w[flush close close_write].each { |verb| assert_match(/\Asecond (IOError|gave .*)\z/, stale(verb)) }
    end

    # It wrote into the next response.
    def test_a_kept_block_of_each_writes_into_no_later_response
      assert_equal "second IOError", keep_and_use(get("/keep_block"), get("/use_block")).body
    end

    # The next connection has the number of the ended connection's descriptor.
    def test_what_is_left_of_an_aborted_response_writes_into_no_other_connection
      skip "another worker may have the next connection" if several?

      [%w[/keep_stream?raise /use_stream?write], %w[/keep_block?raise /use_block]].each do |keep, use|
        assert_raises(WireClient::Truncated) { fetch(keep) }
        assert_equal "second IOError", fetch(use), keep
      end
    end

    # Callbacks in a request's lists are called once; later additions are not called.
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
      response = keep_and_use(get("/keep?#{what}"), get("/use?#{what}"))
      assert_equal [200, "IOError"], [response.status, response.body]
    end

    # The response to the second of two requests on a connection, the first one if there are interim ones. Each copy of
    # the app has kept something else, so both requests must reach the same copy.
    def keep_and_use(keep, use)
      with_connections_that_stay do
        client = connect
        assert_includes %w[kept first], client.ask(keep).body
        used = client.write(use).response
        assert_equal "next", client.ask(get("/echo?next")).body
        used
      end
    end

    # A server whose workers keep their connections. On a loaded machine a request may have to wait for a moment, and
    # then a worker would give it, with its connection, to another one.
    def with_connections_that_stay(&block)
      clustered? && traits.evented? ? with_shared_server("--no-relay", said: "", &block) : yield
    end

    # The exception in the app when it uses a stream that was closed in the connection's last response.
    def stale(verb)
      keep_and_use(get("/keep_stream"), get("/use_stream?#{verb}")).body
    end
  end
end
