# frozen_string_literal: true

require "test_helper"

# A parser in Ruby lets other threads run while it parses, so only one thread may use its connection. The servers run in
# their own processes, because an error here has ended some of them.
class TestRubyParsers < Minitest::Test
  include Serving

  # Seconds of traffic, in which this went wrong several times over.
  TRAFFIC = 2
  REQUEST = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"

  Serving::ENGINES.each do |engine|
    # A connection was in two lists: 100% of a CPU for ever, with the lock and the GVL held.
    define_method("test_heads_in_pieces_and_resets_under_#{engine}") do
      serving_process("#{ROOT}/examples/hello.ru", "--engine", engine, "--parser", "pure", "--keep-alive",
                      forked: true) do |process|
        assert_outlives process
      end
    end

    # Three threads were in one parser, and then came a SEGV.
    define_method("test_a_slow_parser_is_one_threads_at_a_time_under_#{engine}") do
      process = ServingProcess.new(["#{__dir__}/support/slow_parser.rb", engine], fork_server: ForkServer.shared)
      process.wait_until_ready
      assert_outlives process
    ensure
      process&.finish
    end
  end

  private

  def assert_outlives(process)
    port = process.port
    Array.new(4) { |number| Thread.new { ask_in_pieces(port, Random.new(number)) } }.each(&:join)
    assert process.running?, process.err
    assert_equal 200, WireClient.open(port) { |client| client.ask(REQUEST) }.status
    eventually("rest after the traffic") { CpuTime.busy(process.pid, over: 0.5) < 0.2 }
    assert_equal 0, process.stop("TERM").exitstatus
    assert_empty process.err
  end

  def ask_in_pieces(port, random)
    ends = now + TRAFFIC
    connection_in_pieces(port, random) until now > ends
  end

  # Requests in two writes; one of four clients goes in the middle of it.
  def connection_in_pieces(port, random)
    WireClient.open(port, deadline: 5) do |client|
      3.times do
        at = random.rand(1...REQUEST.size)
        client.write(REQUEST[0, at])
        sleep random.rand * 0.003
        break client.reset if random.rand(4).zero?

        client.write(REQUEST[at..]).response
      end
    end
  rescue WireClient::Truncated, WireClient::Silence, SystemCallError
    sleep 0.01 # the connection's turn may have been another's; what has become of the server is asked in the end
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
