# frozen_string_literal: true

require "shellwords"

module Bench
  # Several servers of one process each on the same port, as a peer of the lab. Each has a listener of its own
  # (reuse_port), and the kernel chooses one of them for each connection by a hash of its addresses. A worker is such a
  # server.
  class Apart < Peers::Cuttle
    def workers = (1..)

    # They are the children of a shell.
    def worker_title = nil

    def complete?(server)
      server.tree.listeners(server.port).length == server.setup.workers
    end

    def command(setup)
      alone = setup.dup.tap { |each| each.workers = 0 }
      server = super(alone, "tcp://#{address(setup)}?reuse_port=true").shelljoin
      ["sh", "-c", "#{"#{server} & " * setup.workers}wait"]
    end
  end

  Peers.add(Apart.new("cuttle-apart"))
end
