# frozen_string_literal: true

module EngineContract
  # An app that forks: the parent answers, and the child is no server.
  module Forks
    # The child's SystemExit was swallowed: the child also answered, and continued to serve at its parent's epoll.
    def test_a_forked_child_answers_nobody_and_ends
      with_server(said: /\A(.*in the child.*)?\z/m) do
        %w[exit exit! return raise block].each do |way|
          client = connect.write(get("/fork?#{way},#{gate(way)}", "Connection: close"))
          child = entered(gate(way)).to_i
          assert_equal "parent #{child}", only_response(client), way
          eventually("the end of the child, by #{way}") { !alive?(child) }
          3.times { assert_serves }
        end
      end
    ensure
      end_children
    end

    # The socket is the app's, which may give it to a child.
    def test_a_child_may_answer_on_a_hijacked_socket
      client = connect.write(get("/hand_over"))
      assert_equal "child", client.response.body
      assert_equal :closed, client.ending
      assert_serves
    end

    # A sleeping child held its parent's connections open, because it had copies of their descriptors. And it had the
    # listener open, so the port stayed bound long after the server had ended.
    def test_a_child_that_sleeps_keeps_neither_connections_nor_the_port_open
      with_server do |server|
        idle = connect if traits.evented? # where threads wait for connections, an idle one is closed
        idle&.ask(get("/"))
        client = connect.write(get("/fork?sleep,#{gate}", "Connection: close"))
        child = entered(gate).to_i
        assert_equal "parent #{child}", only_response(client)
        assert_equal "hello", idle.write(get("/", "Connection: close")).response.body if idle
        assert_equal :closed, idle.ending if idle
        assert_serves
        port = server.port
        Process.kill("TERM", server.pid)
        eventually("the server's end") { !server.running? }
        assert alive?(child), "the child is no more, so this test has shown nothing"
        TCPServer.open("127.0.0.1", port).close
      end
    ensure
      end_children
    end

    private

    def gate(way = "sleep") = "#{object_id}-fork-#{way}"

    # The body of the only response on the connection, which has Connection: close.
    def only_response(client)
      octets = client.rest
      assert_equal 1, octets.scan("HTTP/1.1 ").size, octets
      assert_match(/^connection: close\r$/i, octets)
      octets[/\r\n\r\n(.*)/m, 1]
    rescue WireClient::Silence
      flunk "the connection stays open after #{client.buffered.inspect}"
    end

    # A zombie does not count.
    def alive?(pid)
      File.read("/proc/#{pid}/stat")[/\) (\S)/, 1] != "Z"
    rescue Errno::ENOENT, Errno::ESRCH
      false
    end

    # Ends the processes that this test has forked, if they still are the same processes.
    def end_children
      Dir.glob("#{self.class.gates}/#{object_id}-fork-*.in").map { |path| File.read(path).to_i }.each do |pid|
        Process.kill("KILL", pid) if alive?(pid) && File.read("/proc/#{pid}/cmdline").include?("app.ru")
      rescue Errno::ENOENT, Errno::ESRCH
        nil # it has just ended
      end
    end
  end
end
