# frozen_string_literal: true

module Bench
  # A trial: what silent WebSockets cost a server, measured as in Idleness, and the server's number of threads with
  # them.
  class Sockets < Idleness
    private

    # threads: of the process with the most threads.
    def among
      @threads = 0
      super
    end

    def phase(...)
      super.tap { @threads = [@threads || 0, *@server.tree.threads.values.map(&:size)].max }
    end

    def figures(among, rate, p99)
      super.merge(threads: @threads)
    end
  end
end
