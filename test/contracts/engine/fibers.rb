# frozen_string_literal: true

module EngineContract
  # Waiting in the app occupies a fiber, not the thread: each of these waits would stop the engine if it didn't yield.
  module Fibers
    MANY = 50

    def test_sleep_yields
      clients = Array.new(MANY) { hold }
      open_gates
      clients.each { |client| assert_equal "held", client.response.body }
    end

    # The service answers only when all have sent their requests.
    def test_sockets_yield
      TCPServer.open("127.0.0.1", 0) do |service|
        clients = Array.new(MANY) { connect.write(get("/fetch?127.0.0.1:#{service.addr[1]}")) }
        questions = Array.new(MANY) { service.accept }
        questions.each { |socket| assert_equal "a question\n", socket.gets }
        questions.each { |socket| socket.puts("an answer") || socket.close }
        clients.each { |client| assert_equal "an answer\n", client.response.body }
      end
    end

    def test_names_resolve
      assert_match(/\b(127\.0\.0\.1|::1)\b/, fetch("/resolve?localhost"))
      TCPServer.open("127.0.0.1", 0) do |service|
        client = connect.write(get("/fetch?localhost:#{service.addr[1]}"))
        service.accept.then { |socket| socket.puts("found") || socket.close }
        assert_equal "found\n", client.response.body
      end
    end

    # The server took it for a client that does not read, and cut it off.
    def test_a_stream_without_descriptors_waits_for_its_client
      with_server("--write-ahead", "300000", **limited, said: /\A(#{complaints}|)\z/) do |server|
        gate = "#{object_id}-hoard"
        reader = connect(receive_buffer: 4_096)
        reader.ask(get("/stream?1000")) # which loads code
        hoard_all(server, gate)
        reader.write(get("/stream?12000000", "Connection: close"))
        assert_equal 12_000_000, reader.hurry(after: SLOWLY).response.body.bytesize
        open_gate(gate)
      end
    end

    def test_waiting_for_a_process_yields
      assert_yields("child", "7")
    end

    def test_a_mutex_yields
      assert_yields("lock", "held") { |gate| connect.write(get("/lock?#{gate}-second")) }
    end

    def test_a_thread_to_join_yields
      assert_yields("join", "held")
    end

    def test_a_queue_yields
      assert_wakes("pop", "push?it", "it")
    end

    def test_a_condition_variable_yields
      assert_wakes("await", "signal", "signalled")
    end

    # Only the queue knew the fiber, and Ruby's queues don't mark waiting fibers: the fiber was collected, and then
    # resumed.
    def test_a_fiber_that_waits_outlives_a_garbage_collection
      with_server do
        gate = "#{object_id}-collect"
        clients = Array.new(MANY) { |index| connect.write(get("/pop?#{gate}-#{index}")) }
        MANY.times { |index| entered("#{gate}-#{index}") }
        3.times { fetch("/collect") }
        MANY.times { fetch("/push?it") }
        clients.each { |client| assert_equal "it", client.response.body }
      end
    end

    # The connection that got the same number was never released, and the engine looped at its end.
    def test_a_descriptor_that_is_closed_beneath_a_fiber_and_reused
      with_server do
        10.times do
          fileno = fetch("/close_beneath").to_i
          clients = Array.new(4) { connect }
          2.times { clients.each { |client| assert_equal "hello", client.ask(get("/")).body, "descriptor #{fileno}" } }
        end
      end
    end

    # Every child process inherited the copy that waits for a slow client.
    def test_children_inherit_no_connection
      with_server do
        reader = connect(receive_buffer: 4_096).write(get("/stream?60000000"))
        assert reader.heard?(DEADLINE)
        10.times { refute_match(/socket/, fetch("/inherited")) }
      end
    end

    # An app may serve its own socket in the fiber of the request, for ever.
    def test_stop_does_not_wait_for_a_fiber_with_a_socket_of_its_own
      with_server do |server|
        assert_equal "alone", connect.ask(get("/serve_alone")).body
        Process.kill("TERM", server.pid)
        eventually("the server's end") { !server.running? }
      end
    end

    def test_max_fibers_is_a_bound
      with_server("--max-fibers", "2") do
        clients = Array.new(7) { connect.write(get("/nap?0.02")) }
        clients.each { |client| assert_equal 200, client.response.status }
        assert_equal "2", fetch("/most")
      end
    end

    private

    # While one request waits in +action+, others are answered.
    def assert_yields(action, answer)
      gate = "#{self.class.object_id}-#{action}"
      client = connect.write(get("/#{action}?#{gate}"))
      entered(gate)
      second = yield(gate) if block_given?
      3.times { assert_serves }
      open_gate(gate)
      open_gate("#{gate}-second")
      assert_equal answer, client.response.body
      assert_equal answer, second.response.body if second
    end

    # As above, but another request ends the wait.
    def assert_wakes(action, other, answer)
      gate = "#{self.class.object_id}-#{action}"
      client = connect.write(get("/#{action}?#{gate}"))
      entered(gate)
      assert_serves
      fetch("/#{other}")
      assert_equal answer, client.response.body
    end
  end
end
