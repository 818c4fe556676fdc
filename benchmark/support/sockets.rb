# frozen_string_literal: true

module Bench
  # A trial: what silent WebSockets cost a server, as Idleness measures it, and how many threads the server has with
  # them.
  class Sockets < Idleness
    private

    # threads: of the process that has most.
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
