# frozen_string_literal: true

module EngineContract
  # Whatever apps and clients do, the engine continues to serve, with all its threads and without additional
  # descriptors.
  module Survives
    ROUNDS = 12

    # Selectors that the JVM keeps for reuse, one for each thread that has waited. They are fewer than the clients.
    KEPT = Serving::ServingProcess::JVM ? 24 : 0

    def test_survives_exceptions
      %w[/fail /fail_badly].each do |target|
        ROUNDS.times do
          open_client { |client| assert_equal 500, client.ask(get(target)).status }
        end
      end
      ROUNDS.times { assert_raises(WireClient::Truncated) { fetch("/break_off") } }
      assert_whole
    end

    # RFC 9112, 8: without a length, only an error says that the response isn't whole.
    def test_a_response_without_a_length_that_breaks_off_ends_with_an_error
      error = assert_raises(WireClient::Truncated) do
        open_client { |client| client.write("GET /break_off HTTP/1.0\r\n\r\n").to_end }
      end
      assert_predicate error, :reset?
    end

    # This ended reactor, single and fibers.
    def test_survives_callbacks_that_raise_what_is_no_standard_error
      names = %w[NotImplementedError ScriptError Exception SystemStackError NoMemoryError]
      names.each { |name| ROUNDS.times { assert_equal "hello", fetch("/finish_badly?#{name}"), name } }
      assert_whole
      eventually("a report of each") { names.all? { |name| server.err.include?("on purpose (#{name})") } }
    end

    def test_survives_timeouts_in_the_app
      ROUNDS.times { assert_equal "timed out", fetch("/time_out") }
      assert_whole
    end

    def test_survives_the_death_of_its_threads
      skip "the app runs on the process's main thread" unless traits.pooled?

      ROUNDS.times do
        open_client { |client| client.write(get("/kill", "Connection: close")).rest }
      end
      assert_whole
    end

    # The socket stayed open until the garbage collector ran.
    def test_a_thread_that_is_killed_while_it_waits_closes_its_connection
      skip "no thread waits for one connection" unless traits.thread_per_connection? && !clustered?

      with_server do
        idle = connect
        refute idle.ask(get("/")).close?
        assert_equal "done", fetch("/kill_others")
        assert_equal :closed, idle.ending
        assert_whole
      end
    end

    # After the first of them, Ruby has the threads and descriptors that it keeps for itself.
    def test_clients_that_vanish_leave_nothing_behind
      aborts.each(&:call)
      assert_whole
      before = possessions
      ROUNDS.times { aborts.each(&:call) }
      assert_whole
      eventually("as many descriptors and threads as before: #{before}, now #{possessions}") { at_most?(before) }
    end

    private

    # Waits until all threads are in the app.
    def assert_whole
      clients = hold_all
      open_gates
      clients.each { |client| assert_equal "held", client.response.body }
      clients.each(&:close)
      assert_serves
    end

    # Ways for a client to leave, at every stage of an exchange.
    def aborts
      upload = post("/digest", "z" * 300_000)
      [-> { vanish("") }, -> { vanish("GET / HT") }, -> { vanish(get("/")) }, -> { vanish(upload[0, 250_000]) },
       -> { vanish(upload) }, -> { vanish(get("/large?2000000"), heard: true) },
       -> { vanish(get("/stream?2000000"), heard: true) }, -> { connect.write(get("/")[0..-3]).half_close.rest }]
    end

    def vanish(bytes, heard: false)
      client = connect(receive_buffer: 4_096).write(bytes)
      client.heard?(DEADLINE) if heard
      client.reset
    end

    # Open descriptors and native threads of each process.
    def possessions
      serving_pids.to_h { |pid| [pid, %w[fd task].map { |kind| Dir.children("/proc/#{pid}/#{kind}").size }] }
    end

    # Ruby keeps a native thread for reuse, so one more may stay; threads of ractors share some of them.
    def at_most?(before)
      more = traits.ractors? ? Etc.nprocessors + 1 : 1
      fetch("/") # the server releases the rest at its next request
      possessions.all? { |pid, (files, threads)| files <= before[pid][0] + KEPT && threads <= before[pid][1] + more }
    end
  end
end
