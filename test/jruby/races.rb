# frozen_string_literal: true

require "test_helper"

# What only threads that truly run in parallel find out.
class TestRaces < Minitest::Test
  include Serving

  THREADS = 4
  ROUNDS = 60

  # One Hash was changed by all threads at once.
  def test_names_of_fields_that_are_new_to_every_thread
    app = ->(env) { [200, {}, [env.keys.grep(/\AHTTP_X_\d/).sort.join(",")]] }
    serving(app, engine: "hybrid", threads: THREADS) do |server|
      in_parallel do |thread, round|
        names = Array.new(8) { |number| "X-#{thread}-#{round}-#{number}" }
        expected = names.map { |name| "HTTP_#{name.tr("-", "_")}" }.sort.join(",")
        assert_equal expected, get(server, "/", names.to_h { |name| [name, "1"] }).body
      end
    end
  end

  # The end of its chunks was sent twice, or its callbacks were called twice.
  def test_a_stream_that_two_threads_close
    calls = Queue.new
    serving(closing_twice(calls), engine: "hybrid", threads: THREADS) do |server|
      in_parallel do
        client(server) do |client|
          2.times do
            assert_equal "ab", client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").response.body
          end
        end
      end
      eventually("the callbacks") { calls.size >= THREADS * ROUNDS * 2 }
      assert_equal THREADS * ROUNDS * 2, calls.size
    end
  end

  # A thread that had begun to write while another ended the response wrote into the next one.
  def test_a_writer_that_is_late
    app = lambda do |_env|
      body = lambda do |stream|
        Thread.new { loop { stream.write("late") } rescue IOError }
        stream.close
      end
      [200, {}, body]
    end
    serving(app, engine: "hybrid", threads: THREADS) do |server|
      in_parallel do
        client(server) do |client|
          3.times { assert_match(/\A(late)*\z/, client.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").response.body) }
        end
      end
    end
  end

  # Sets of threads that lost or kept one.
  def test_threads_that_are_free_and_busy_are_counted
    serving(->(_env) { [200, {}, ["hello"]] }, engine: "threads", threads: THREADS) do |server|
      in_parallel { assert_equal "hello", get(server).body }
      engine = server.instance_variable_get(:@engine)
      eventually("all free, and none lost") do
        server.stats.values_at(:busy, :threads) == [0, THREADS] && engine.instance_variable_get(:@taken).size.zero?
      end
    end
  end

  private

  def in_parallel(&block)
    threads = Array.new(THREADS) { |thread| Thread.new { ROUNDS.times { |round| block.call(thread, round) } } }
    threads.each { |thread| thread.report_on_exception = false }
    threads.each(&:join)
  end

  def closing_twice(calls)
    lambda do |env|
      env["rack.response_finished"] << ->(*) { calls << true }
      body = lambda do |stream|
        %w[a b].each { |text| stream.write(text) }
        Array.new(2) { Thread.new { stream.close } }
      end
      [200, {}, body]
    end
  end
end
