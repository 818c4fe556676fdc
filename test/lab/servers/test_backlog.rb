# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# The backlog of a listening socket, as the kernel has it; and what a machine without the means to look says.
class TestLabBacklog < Minitest::Test
  Backlog = Cuttle::Lab::Servers::Backlog

  def test_the_backlog_that_a_socket_was_given
    listening(37) do |port|
      found = Backlog.of(port)
      skip "ss (iproute2) shows no backlog here" if found.nil?

      assert_equal 37, found
    end
  end

  def test_nobody_listens
    port = listening(1) { |free| free }
    assert_nil Backlog.of(port)
  end

  def test_the_least_of_several_sockets
    with_program("LISTEN 0 128 127.0.0.1:1 0.0.0.0:*\nLISTEN 0 64 127.0.0.1:1 0.0.0.0:*") do |path|
      assert_equal 64, Backlog.of(1, program: path)
    end
  end

  def test_a_machine_where_nobody_says
    assert_nil Backlog.of(1, program: "/no/such/ss")
    with_program("LISTEN 0 0 127.0.0.1:1 0.0.0.0:*") { |path| assert_nil Backlog.of(1, program: path) }
  end

  private

  def listening(backlog)
    server = Socket.tcp_server_sockets("127.0.0.1", 0).first
    server.listen(backlog)
    yield server.local_address.ip_port
  ensure
    server.close
  end

  # A program that prints these lines, whatever it is asked.
  def with_program(lines)
    Dir.mktmpdir do |directory|
      path = "#{directory}/ss"
      File.write(path, "#!/bin/sh\ncat <<'END'\n#{lines}\nEND\n", perm: 0o755)
      yield path
    end
  end
end
