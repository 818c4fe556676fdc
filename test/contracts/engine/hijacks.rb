# frozen_string_literal: true

module EngineContract
  # Sockets that the app takes over: they hold no thread, they are counted while they are open, and WebSockets among
  # them that the app leaves open end with a Close frame.
  module Hijacks
    UPGRADE = ["Connection: keep-alive, Upgrade", "Upgrade: WebSocket", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
               "Sec-WebSocket-Version: 13"].freeze
    GOING_AWAY = "\x88\x02\x03\xE9".b
    NORMAL = "\x88\x02\x03\xE8".b

    # Seconds between two reads of the metrics. Workers write theirs now and then.
    LOOK = 0.1

    SAID = /\A(cuttle: WebSockets that the app had left open: \d+ closed with 1001 \(going away\)\n)+\z/

    # More of them than threads and fibers.
    def test_hijacked_sockets_hold_no_thread_and_are_counted_while_they_are_open
      skip "this core knows no descriptors" if Serving::ServingProcess::JVM

      with_control do |metrics|
        sockets = Array.new(capacity_of_threads + 2) { |number| websocket(number.even?) }
        others = Array.new(2) { connect.tap { |client| client.write(get("/websocket")).response } }
        3.times { assert_serves }
        eventually("#{sockets.size + 2} hijacked sockets", every: LOOK) { metrics.call == sockets.size + 2 }
        (sockets + others).each(&:close)
        eventually("no hijacked socket", every: LOOK) { metrics.call.zero? }
      end
    end

    # And writes nothing to other sockets: only the server's end knows the app's protocol.
    def test_stop_closes_websockets_that_the_app_leaves_open
      with_server(said: tells? ? SAID : "") do |server|
        sockets = Array.new(tells? ? 3 : 0) { |number| websocket(number.even?) }
        other = connect.write(get("/websocket", *UPGRADE.first(3).reverse.drop(1)))
        assert_equal 101, other.response.status
        Process.kill("TERM", server.pid)
        sockets.each { |client| assert_going_away(client) }
        assert_equal :closed, other.ending
        assert_ends server
      end
    end

    def test_a_worker_that_is_replaced_closes_its_websockets
      skip "it has no others" unless clustered?
      skip "the system doesn't say whether a client has taken everything" unless tells?

      with_server(said: /\A(cuttle: (WebSockets|worker) .+\n)+\z/) do |server|
        before = workers_that_answer
        sockets = Array.new(6) { websocket }
        before.each { |pid| Process.kill("QUIT", pid) }
        sockets.each { |client| assert_going_away(client) }
        eventually("new workers") { server.workers.size == before.size && !server.workers.intersect?(before) }
        assert_serves
      end
    end

    # The connection that has the number of the descriptor now is not a WebSocket.
    def test_stop_writes_nothing_where_the_app_was_faster
      listener = TCPServer.new("127.0.0.1", 0)
      with_server do |server|
        client = connect.write(get("/swap?#{listener.local_address.ip_port}", *UPGRADE))
        assert_equal 101, client.response.status
        assert_equal :closed, client.ending
        assert_serves if several? || !traits.inline? # so the app has continued
        accepted = [listener.accept]
        Process.kill("TERM", server.pid)
        assert_ends server
        accepted << listener.accept while listener.wait_readable(0)
        assert_equal [""], accepted.map(&:read).uniq
        accepted.each(&:close)
      end
    ensure
      listener.close
    end

    # Through a hook, in which the app may act.
    def test_an_app_closes_its_websockets_itself
      skip "the hook runs in another ractor" if traits.ractors?

      hook = clustered? ? "before_worker_shutdown" : "after_stopped"
      File.write("#{self.class.gates}/hang_up.rb", "#{hook} { EngineApp.current.hang_up }\n")
      with_server("-C", "#{self.class.gates}/hang_up.rb") do |server|
        client = websocket
        Process.kill("TERM", server.pid)
        assert_equal NORMAL, client.exactly(4)
        assert_equal :closed, client.ending
        assert_ends server
      end
    end

    private

    # The pids of all workers. One worker may take longer to start.
    def workers_that_answer
      pids = []
      eventually("an answer of each worker") { (pids |= [fetch("/pid").to_i]).size == self.class.workers }
      pids
    end

    # Whether the core and the system know when no request is in the app.
    def tells?
      Cuttle::Cores.fetch(self.class.core)::Hijacked::TELLS && !Serving::ServingProcess::JVM
    end

    # Requests that would occupy all threads, or as many fibers as are enough.
    def capacity_of_threads = traits.fibers? ? FIBERS : capacity

    # A client whose WebSocket is open.
    def websocket(whole = true)
      client = connect.write(get(whole ? "/websocket" : "/websocket_in_part", *UPGRADE))
      assert_equal 101, client.response.status
      client
    end

    def assert_going_away(client)
      assert_equal GOING_AWAY, client.exactly(4)
      assert_equal :closed, client.ending
      client.close
    end

    # A new server. Yields a Proc that returns the number of sockets in its metrics.
    def with_control
      path = "#{self.class.gates}/control.sock"
      with_server("--control-url", "unix://#{path}") do
        yield(lambda do
          text = WireClient.open(path) { |client| client.write(get("/metrics", "Connection: close")).response.body }
          text.scan(/^cuttle_connections_hijacked(?:\{.*\})? (\d+)/).sum { |(count)| count.to_i }
        end)
      end
    end
  end
end
