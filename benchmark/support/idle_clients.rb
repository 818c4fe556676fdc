# frozen_string_literal: true

module Bench
  # Clients that made one request each and then keep their connection without a word. They live in the process of the
  # benchmark, which sleeps while a load runs, and has the load's core anyway.
  class IdleClients
    # Local ports run short near 28,000 for one address, so each so many clients have an address of their own.
    PER_ADDRESS = 10_000
    # Descriptors a process needs beside those of the connections.
    OTHER_DESCRIPTORS = 1_000

    # Lets this process, and the servers it starts, have so many connections. Raises Server::Failed where it may not.
    def self.allow(count)
      wanted = count + OTHER_DESCRIPTORS
      soft, hard = Process.getrlimit(:NOFILE)
      Process.setrlimit(:NOFILE, wanted, [hard, wanted].max) if soft < wanted
    rescue Errno::EPERM
      raise Server::Failed, "may have #{hard} open files only (ulimit -n), and needs #{wanted}"
    end

    def initialize(port)
      @port = port
      @sockets = []
    end

    # Opens so many, one after the other, for a server's backlog is not what is measured.
    def open(count)
      count.times do |number|
        socket = Socket.tcp("127.0.0.1", @port, "127.0.0.#{2 + (number / PER_ADDRESS)}", 0)
        @sockets << socket
        status = Http.exchange(socket, "/").status
        raise Server::Failed, "answered #{status} to idle client #{number}" unless status == 200
      end
    rescue SystemCallError, EOFError => e
      raise Server::Failed, "idle client #{@sockets.size}: #{e.message}"
    end

    # How many of them the server still keeps.
    def alive
      @sockets.count { |socket| socket.read_nonblock(1, exception: false) == :wait_readable }
    end

    def close
      @sockets.each(&:close)
      @sockets.clear
    end
  end
end
