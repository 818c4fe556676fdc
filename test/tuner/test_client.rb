# frozen_string_literal: true

require "test_helper"

# How the profiler's client reads responses, from a server with given answers.
class TestProfilerClient < Minitest::Test
  Client = Cuttle::Tuner::Profiler::Client
  Request = Cuttle::Load::Request

  def test_bodies_end_where_they_say
    answers = ["Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0;x=y\r\nA: b\r\n\r\n",
               "Content-Length: 0\r\n\r\n"]
    serving([answers.map { |answer| "HTTP/1.1 200 OK\r\n#{answer}" }]) do |client|
      assert_equal([200] * 3, Array.new(3) { client.call(Request.new).status })
    end
  end

  def test_a_response_without_a_body_ends_with_its_head
    serving([["HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n",
              "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 304 Not Modified\r\n\r\n"]]) do |client|
      statuses = [Request.new, Request.new(method: "HEAD"), Request.new].map { |request| client.call(request).status }
      assert_equal [204, 200, 304], statuses
    end
  end

  # Connections that the server closes: announced, by the end of a body, and without a reason.
  def test_a_closed_connection_is_replaced
    answers = ["HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 201 OK\r\n\r\nbody",
               "HTTP/1.1 202 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 203 OK\r\nContent-Length: 0\r\n\r\n"]
    serving(answers.zip) do |client|
      assert_equal([200, 201, 202, 203], Array.new(4) { client.call(Request.new).status })
    end
  end

  def test_the_apps_own_server_timing_is_another
    head = "HTTP/1.1 200 OK\r\nServer-Timing: app;dur=9, db;dur=1\r\nserver-timing: accept;dur=0.000, " \
           "read;dur=0.010, queue;dur=0.020, app;dur=12.500, cpu;dur=7.311, wait;dur=4.723\r\nContent-Length: 0\r\n\r\n"
    serving([[head]]) do |client|
      assert_equal [0.007311, 0.004723, 0.0125], client.call(Request.new).timing.values_at(:cpu, :wait, :app)
    end
  end

  def test_no_answer_is_a_failure_of_one_line
    serving([[""]]) do |client|
      error = assert_raises(Cuttle::Lab::Failure) { client.call(Request.new(path: "/a")) }
      assert_match(%r{\AGET /a: no answer}, error.message)
    end
    listener = TCPServer.new("127.0.0.1", 0)
    silent = Client.new(listener.local_address.ip_port, timeout: 0.05)
    assert_match(/no answer within/, assert_raises(Cuttle::Lab::Failure) { silent.call(Request.new) }.message)
  ensure
    silent&.close
    listener&.close
  end

  private

  # connections: the answers that each gives, one for a request, before it is closed.
  def serving(connections)
    listener = TCPServer.new("127.0.0.1", 0)
    server = Thread.new do
      connections.each do |answers|
        socket = listener.accept
        answers.each do |answer|
          nil until socket.gets.to_s.chomp.empty?
          socket.write(answer)
        end
        socket.close
      end
    end
    client = Client.new(listener.local_address.ip_port)
    yield client
  ensure
    client&.close
    server&.kill&.join
    listener&.close
  end
end
