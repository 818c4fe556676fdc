# frozen_string_literal: true

require "json"

module EngineContract
  # Graceful stop: the listener first, idle connections at once, requests under way answered, then the process ends.
  module Stops
    def test_stop_answers_what_is_in_the_app_and_closes_the_rest
      skip "its one thread is in the app, so nothing else can be seen" if traits.inline?

      with_server do |server|
        idle = idle_connection
        held = hold
        Process.kill("TERM", server.pid)
        assert_equal :closed, idle.ending
        assert_refused
        open_gates
        assert_answered_last held
        assert_ends server
      end
    end

    # A client whose connection was closed connects again, and must not find a listener that no process serves.
    def test_stop_closes_the_listener_before_idle_connections
      skip "of one thread or worker, which says nothing of the others" if clustered? || !traits.evented?

      with_server do |server|
        idle = idle_connection
        Process.kill("TERM", server.pid)
        assert_equal :closed, idle.ending
        assert_raises(Errno::ECONNREFUSED) { connect }
        assert_ends server
      end
    end

    def test_stop_waits_for_a_request_that_is_arriving_and_a_reader_that_is_slow
      with_server do |server|
        reader = connect(receive_buffer: 4_096).write(get("/large?4000000"))
        assert reader.heard?(DEADLINE)
        writer = connect.write(post("/echo?late", "body")[0..-2]) if traits.evented?
        assert_serves if traits.evented? # so the half request has been seen
        Process.kill("TERM", server.pid)
        assert_refused if traits.evented?
        assert_equal 4_000_000, reader.hurry(after: SLOWLY).response.body.bytesize
        assert_answered_last writer.write("y") if writer
        assert_ends server
      end
    end

    # A lone CRLF, which may precede a request, counted as a request in the app: the stop took the whole shutdown
    # timeout.
    # A connection without any request delayed the stop by 2 s.
    def test_stop_does_not_wait_for_connections_without_a_request
      at_once_if(traits.evented?, ["\r\n", ""]) do |kinds|
        seconds = least_seconds(below: 1.7) do
          with_server do |server|
            assert_serves
            kinds.each { |bytes| Array.new(traits.evented? ? 3 : 1) { connect.write(bytes) } }
            connect.ask(get("/", "Connection: close")) if traits.evented? # so the others have been seen
            stopping_takes(server)
          end
        end
        assert_operator seconds, :<, 1.7, kinds.inspect
      end
    end

    # The next request, sent before the client could know of the stop, found the connection closed.
    def test_stop_answers_a_request_that_comes_soon_after_on_a_kept_connection
      skip "one connection at a time: the listeners close behind it" unless traits.evented? || traits.pooled?

      with_server("--drain-grace", "500", "--shutdown-timeout", "600") do |server|
        kept = idle_connection
        Process.kill("TERM", server.pid)
        assert_refused
        assert_answered_last kept.write(get("/"))
        assert_ends server
      end
    end

    def test_stop_ends_kept_connections_when_their_grace_is_over
      { "0" => 0..5, "0.5" => 0.45..5 }.each do |grace, range|
        seconds = least_seconds(below: 5) do
          with_server("--drain-grace", grace) do |server|
            kept = idle_connection
            stopping_takes(server) { assert_equal :closed, kept.ending }
          end
        end
        assert_includes range, seconds
      end
    end

    def test_a_second_interrupt_ends_the_grace
      skip "one connection at a time: the listeners close behind it" unless traits.evented? || traits.pooled?

      server = @server = self.class.start("--drain-grace", "500", "--shutdown-timeout", "600")
      idle_connection
      Process.kill("INT", server.pid)
      assert_refused
      assert_includes [0, clustered? ? 1 : 130], server.stop("INT").exitstatus
    ensure
      leave
      server&.finish
      @server = nil
    end

    # Each client repeatedly sends a request on a new connection. A refused connection ends its loop, and so does one
    # that the system resets because it was not accepted before the listener closed. Any other connection without an
    # answer is lost.
    def test_stop_loses_nothing
      with_server do |server|
        answers = Queue.new
        clients = Array.new(3) { Thread.new { ask_until_refused(answers) } }
        20.times { answers.pop }
        Process.kill("TERM", server.pid)
        assert_equal [], clients.map(&:value).compact
        assert_ends server
      end
    end

    # Clients that connected again and again kept a blocking engine from ending.
    def test_stop_accepts_the_connections_that_wait_and_no_later_ones
      skip "the other worker may have what waits" if clustered?
      skip "an app there can't ask whether its server stops" if traits.ractors? || Serving::ServingProcess::JVM

      eventually("clients that ask in time") { stops_with_waiting_clients? }
    end

    # The listeners continue in the program that this process executes next: a hot restart under overload took the whole
    # shutdown timeout.
    def test_stop_answers_what_it_has_accepted_and_leaves_the_backlog
      skip "which one of them leaves it, the supervisor says" if clustered?
      skip "a program of its own, with plain sockets" if self.class.tls
      skip "no program takes the JVM's place" if Serving::ServingProcess::JVM

      server = @server = self.class.start(script: ["#{__dir__}/leaves.rb", JSON.generate(options_in_full)])
      held = hold_all
      waiting = Array.new(4) { connect.write(get("/")) }
      Process.kill("TERM", server.pid)
      eventually("the signal") { server.out.include?("stopping") }
      open_gates
      held.each { |client| assert_answered_last client }
      assert_ends server
      assert_includes server.out, "left #{waiting.length}\n", server.err
    ensure
      leave
      server&.finish
      @server = nil
    end

    # The others accept from the same listeners.
    def test_a_worker_that_stops_alone_leaves_the_backlog_to_the_others
      skip "it has no others" unless clustered?

      with_server(*bounded) do |server|
        held = Array.new(capacity) { hold(action: "hold_until_stop") }
        waiting = Array.new(4) { connect.write(get("/pid")) }
        Process.kill("TTOU", server.pid)
        eventually("one worker") { server.workers.length == 1 }
        open_gates
        held.each { |client| assert_equal 200, client.response.status }
        assert_equal server.workers.map(&:to_s), waiting.map { |client| client.response.body }.uniq
      end
    end

    # With fibers, 11 of 40 lines arrived, and the process ended after the whole shutdown timeout, with status 1.
    def test_stop_waits_for_a_response_that_another_thread_feeds
      at_once_if(!traits.inline?, %w[/feed /feed_stream]) do |targets|
        with_server do |server|
          clients = targets.to_h { |target| [target, connect.write(get(target))] }
          clients.each_value { |client| client.fill until client.buffered.include?("line 0") }
          Process.kill("TERM", server.pid)
          clients.each { |target, client| assert_equal 40, client.response.body.lines.size, target }
          assert_ends server
        end
      end
    end

    # With fibers, what an app still did after its response was lost if it had to wait.
    def test_stop_waits_for_what_an_app_does_after_its_response
      with_server do |server|
        gate = "#{self.class.object_id}-after"
        assert_equal "hello", connect.ask(get("/greet_and_tell?#{gate}", "Connection: close")).body
        entered(gate)
        Process.kill("TERM", server.pid)
        assert_refused unless traits.inline?
        open_gate(gate)
        assert_ends server
        assert entered?("#{gate}-over")
      end
    end

    def test_stop_from_a_trap_handler
      skip "the supervisor's signals are its own" if clustered?
      skip "a program of its own, with plain sockets" if self.class.tls

      with_server(script: ["#{__dir__}/trap.rb", self.class.engine]) do |server|
        idle = idle_connection
        idle.close unless traits.evented? # its thread would wait for another request
        held = hold
        Process.kill("TERM", server.pid)
        eventually("the signal") { server.out.include?("stopping") }
        open_gates
        assert_answered_last held
        assert_ends server
        assert_match(/^ended$/, server.out)
      end
    end

    private

    # Yields all of them at once if one server can show them together, otherwise one after the other.
    def at_once_if(together, all, &block) = (together ? [all] : all.zip).each(&block)

    # Options for a Cuttle::Server like Case.start's.
    def options_in_full
      { engine: self.class.engine, keep_alive: true, threads: ("#{THREADS}:#{THREADS}" if traits.pooled?),
        ractors: (self.class.ractors if traits.ractors?), max_fibers: (FIBERS if traits.fibers?) }.compact
    end

    # Whether the waiting requests were answered. With TLS, a client that is late on a busy machine has not sent its
    # request in the half second that the stop allows.
    def stops_with_waiting_clients?
      with_server(*bounded) do |server|
        held = Array.new(capacity) { hold(action: "hold_until_stop") }
        waiting = Array.new(2) { "#{self.class.object_id}-#{object_id}-#{@held += 1}" }
                       .to_h { |gate| [gate, connect.write(get("/hold?#{gate}"))] }
        Process.kill("TERM", server.pid)
        assert_refused
        in_time = let_through(waiting)
        (in_time ? [*held, *waiting.values] : held).each { |client| assert_answered_last client }
        assert_ends server
        in_time
      end
    end

    # Opens the gates of these clients, each when its request is in the app. Returns false if a connection ended before.
    # With TLS, the handshakes determine the order.
    def let_through(waiting)
      until waiting.empty?
        gate, = eventually("one of them in the app") do
          waiting.find { |gate, client| entered?(gate) || (self.class.tls && client.heard?(0)) }
        end
        return false unless entered?(gate)

        open_gate(gate)
        waiting = waiting.except(gate)
      end
      true
    end

    # Kept alive, without a further request.
    def idle_connection
      client = connect
      refute client.ask(get("/")).close?
      client
    end

    def assert_answered_last(client)
      response = client.response
      assert_equal 200, response.status
      assert response.close?, "no Connection: close after the stop"
      assert_equal :closed, client.ending
    end

    def assert_refused
      eventually("a refused connection") { RawClient.refused?(port) }
    end

    # Seconds until +server+ ends, or until the block is true.
    def stopping_takes(server)
      seconds = elapsed do
        Process.kill("TERM", server.pid)
        block_given? ? yield : assert_ends(server)
      end
      assert_ends server
      seconds
    end

    def assert_ends(server) = eventually("the server's end") { !server.running? }

    # nil when the server has stopped listening, otherwise the error.
    def ask_until_refused(answers)
      loop { answers << fetch("/") }
    # Through connect(2), or through a handshake, which precedes a request. An error of a request is Truncated.
    rescue Errno::ECONNREFUSED, Errno::ECONNRESET, Errno::EPIPE
      nil
    rescue WireClient::Truncated => error
      error unless error.reset? && error.received.empty?
    rescue StandardError => error
      error
    end
  end
end
