# frozen_string_literal: true

module EngineContract
  # How many requests are in the app at once, and what continues meanwhile.
  module Shares
    # All of them are in the app together before the first may leave.
    def test_requests_run_at_once
      clients = hold_all
      open_gates
      clients.each { |client| assert_equal "held", client.response.body }
    end

    # One of the two workers is full, and must leave new connections to the other.
    def test_quick_requests_overtake_those_that_wait
      skip "the app runs on the one thread" if traits.inline? && !clustered?

      Array.new(capacity - 1) { hold }
      20.times { assert_serves }
    end

    def test_the_app_runs_no_more_often_at_once_than_asked_for
      skip "each worker counts for itself" if several?

      limit = ["--max-fibers", FIBERS.to_s] if traits.fibers?
      with_server(*limit) do
        held = hold_all
        clients = Array.new(at_once * 2) { connect.write(get("/nap?0.02")) }
        open_gates
        [*held, *clients].each { |client| assert_equal 200, client.response.status }
        assert_equal at_once, fetch("/most").to_i
      end
    end
  end

  # For engines whose threads share the GVL.
  module TakesTurns
    # One request waits for the GVL in the app when a thread takes the next request. Without a turn, it would be
    # answered last. In 15 trials of at most 20 it is not.
    def test_requests_that_have_begun_go_before_new_ones
      with_server("-t", "2:2") do
        trials = []
        trials << begun_not_last? until trials.count(true) == 15 || trials.count(false) > 5
        assert_equal 15, trials.count(true), "of #{trials.length}"
      end
    end

    private

    # Whether a request that has begun is answered before the last of two that only compute.
    def begun_not_last?
      begun, *computing = ["/rest?0.01", "/compute?0.03", "/compute?0.03"].map do |target|
        connect.write(get(target, "Connection: close"))
      end
      begun.response.body.to_i < computing.map { |client| client.response.body.to_i }.max
    end
  end

  # For engines whose threads don't queue for the GVL behind an app that releases it only briefly.
  module StandsBy
    # A busy machine looks like an app that waits, and then another thread starts. So the server gets the highest
    # priority if the test may set it, and sometimes it takes more than one trial.
    def test_requests_that_only_compute_are_alone_in_the_app
      assert_alone "/stat", 50
    end

    def test_short_requests_are_alone_in_the_app
      skip "before Ruby 3.3, releases of the GVL are not reported" if RUBY_VERSION < "3.3"

      assert_alone "/glance", 500
    end

    private

    # Eight clients send so many requests each.
    def assert_alone(target, count)
      with_server do |server|
        assert_serves
        prefer server.pid
        eventually("nine requests of ten alone in the app") do
          clients = Array.new(8) { connect.write(get(target) * count) }
          inside = clients.flat_map { |client| Array.new(count) { client.response.body.to_i } }
          inside.count(1) > 0.9 * inside.length
        end
      end
    end

    # All threads of a process, and those that they start.
    def prefer(pid)
      Dir.children("/proc/#{pid}/task").each { |task| Process.setpriority(Process::PRIO_PROCESS, task.to_i, -20) }
    rescue SystemCallError
      nil # only root may
    end
  end

  # What must continue while every thread is in the app, in engines that promise it.
  module GoesOn
    def test_slow_readers_drain_while_every_thread_is_in_the_app
      reader = connect(receive_buffer: 4_096).write(get("/large?8000000"))
      assert reader.heard?(DEADLINE)
      hold_all
      assert_equal 8_000_000, reader.hurry(after: SLOWLY).response.body.bytesize
    end

    { "the_app" => "hold", "a_callback_after_its_response" => "greet_and_hold" }.each do |place, action|
      define_method("test_deadlines_fire_while_every_thread_is_in_#{place}") do
        with_server("--request-timeout", "1", "--idle-timeout", "1") do
          late = connect
          idle = connect
          [late, idle].each { |client| client.ask(get("/")) }
          late.write("GET / HTTP/1.1\r\n")
          hold_all(action: action)
          assert_match(%r{\A(HTTP/1\.1 408 .*)?\z}m, late.rest)
          assert_equal :closed, idle.ending
        end
      end
    end

    def test_a_body_arrives_while_every_thread_is_in_the_app
      upload = connect
      upload.ask(get("/"))
      holders = hold_all
      upload.write(post("/digest", "z" * 8_000_000)) # more than sockets hold, so the server reads
      open_gates
      holders.each(&:response)
      assert_match(/\A8000000 /, upload.response.body)
    end
  end
end
