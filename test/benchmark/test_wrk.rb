# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"

# What is read from a run of wrk.
class TestBenchmarkWrk < Minitest::Test
  RUN = <<~TEXT
    Running 2s test @ http://127.0.0.1:9777/
      1 threads and 32 connections
    wrk-json {"duration_us":2000000,"requests":151928,"bytes":15648584,"p50_us":212,"p95_us":530,"p99_us":4568,\
    "max_us":8747,"errors":{"connect":0,"read":3,"write":0,"timeout":0,"status":7}}
  TEXT

  def test_figures
    run = Bench::Wrk.parse(RUN)
    assert_equal 75_964, run[:rate]
    assert_equal 7_824_292, run[:byte_rate]
    assert_equal [212, 530, 4568, 8747], run.values_at(:p50, :p95, :p99, :max)
    assert_equal 2.5, run[:p95_p50]
  end

  def test_errors_that_happened_are_kept
    assert_equal({ read: 3, status: 7 }, Bench::Wrk.parse(RUN)[:errors])
  end

  def test_output_without_figures_says_why
    error = assert_raises(Bench::Wrk::Failed) do
      Bench::Wrk.parse("unable to connect to 127.0.0.1:1 Connection refused\n")
    end
    assert_match(/Connection refused/, error.message)
    assert_raises(Bench::Wrk::Failed) { Bench::Wrk.parse("") }
  end

  def test_a_run_against_a_server_that_answers_404_counts_errors
    skip "wrk is not installed" unless Bench::Program.path("wrk")

    with_answer("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n") do |port|
      run = Bench::Wrk.new(connections: 1).call(port, 1, Bench::Cores.new)
      assert_operator run[:requests], :>, 0
      assert_equal run[:requests], run[:errors][:status]
      assert_operator run[:load_cpu], :>, 0
    end
  end

  private

  def with_answer(octets)
    listener = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new do
      loop { Thread.new(listener.accept) { |client| answer(client, octets) } }
    rescue IOError # closed
      nil
    end
    yield listener.addr[1]
  ensure
    listener.close
    thread.join
  end

  def answer(client, octets)
    client.write(octets) while client.readpartial(4096)
  rescue EOFError, SystemCallError
    client.close
  end
end
