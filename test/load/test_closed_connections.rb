# frozen_string_literal: true

require "test_helper"
require "json"
require "open3"
require "rbconfig"
require "tempfile"

# Kept connections that the server closes, as it may at any time (RFC 9112, 9.5).
class TestLoadClosedConnections < Minitest::Test
  include Eventually

  Load = Cuttle::Load
  Servers = Cuttle::Load::TestServers
  COMMAND = [RbConfig.ruby, "--disable=gems", "-I#{File.expand_path("../../lib", __dir__)}",
             File.expand_path("../../exe/cuttle", __dir__), "load"].freeze

  # Yields the URL of a server that answers the first request of each connection, and closes after the second one.
  def closing_kept_connections(linger: nil)
    listener = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new { loop { serve_once(listener.accept, linger) } }
    yield "http://127.0.0.1:#{listener.local_address.ip_port}/"
  ensure
    thread&.kill
    listener&.close
  end

  def serve_once(client, linger)
    client.setsockopt(Socket::Option.linger(true, linger)) if linger
    client.readpartial(1000)
    client.write(Servers::ANSWER)
    client.readpartial(1000)
  rescue EOFError
    nil
  ensure
    client.close
  end

  def test_a_request_on_a_kept_connection_that_is_closed_is_sent_again
    [nil, 0].each do |linger|
      [{}, { rate: 100 }].each do |options|
        result = closing_kept_connections(linger: linger) do |url|
          Load.run(url, requests: 10, connections: 1, threads: 1, **options)
        end

        assert_equal [10, 10, 0, 9, 10], [result.sent, result.responses, result.failures, result.retried, result.opened]
        assert_match(/^responses   10 of 10 sent, 9 of them again on a new/, Load::Reports::Text.render(result))
      end
    end
  end

  # The server may have done what they ask for.
  def test_what_may_not_be_repeated_is_not_sent_again
    result = closing_kept_connections { |url| Load.run(url, requests: 10, connections: 1, threads: 1, body: "x") }

    assert_equal [5, 5, 0], [result.responses, result.errors[:early_close], result.retried]
  end

  # Yields the URL of a server that keeps connections, and a queue with the connection of each answer.
  def keeping_connections
    listener = TCPServer.new("127.0.0.1", 0)
    answers = Queue.new
    thread = Thread.new { loop { listener.accept.then { |socket| Thread.new { serve(socket, answers) } } } }
    yield "http://127.0.0.1:#{listener.local_address.ip_port}/", answers
  ensure
    thread&.kill
    listener&.close
  end

  def serve(socket, answers)
    while socket.readpartial(1000)
      socket.write(Servers::ANSWER)
      answers << socket
    end
  rescue EOFError, SystemCallError
    socket.close
  end

  # When it continues, it hears of all ends at once, and has requests to send. None of them can be repeated.
  def test_no_request_is_sent_on_a_connection_that_is_known_to_have_ended
    keeping_connections do |url, answers|
      result = loaded(url, [0.0] * 20 + [2.0] * 10) do |pid|
        eventually("20 answers") { answers.length == 20 }
        while_stopped(pid) { 20.times { answers.pop.shutdown(:WR) } }
      end

      assert_equal [30, 0], [result["responses"], result["errors"].values.sum]
    end
  end

  # The results of another process with that trace of POSTs, as JSON. Yields its id.
  def loaded(url, trace)
    Tempfile.create("trace") do |file|
      file.write(trace.join("\n"))
      file.close
      options = ["--trace", file.path, "-c", "20", "-t", "1", "--body", "x", "-q", "--json", "-"]
      Open3.popen2(*COMMAND, url, *options) do |_, out, waiter|
        yield waiter.pid
        JSON.parse(out.read)
      end
    end
  end

  # Stops the process until the last of its trace is overdue.
  def while_stopped(pid)
    stopped = Cuttle.now
    Process.kill(:STOP, pid)
    eventually("stopped") { File.read("/proc/#{pid}/stat").split[2] == "T" }
    yield
    eventually("overdue") { Cuttle.now > stopped + 2.1 }
  ensure
    Process.kill(:CONT, pid)
  end
end
