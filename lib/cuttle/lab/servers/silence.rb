# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      # How long a server that starts has not answered its requests, and whether its app hangs. A silent server may
      # still load the app, because some servers listen first. The app hangs if no process computes, or only processes
      # that have accepted a request. (A proxy accepts requests while others load the app, but does not compute then.)
      class Silence
        LIMIT = 20 # seconds
        IDLE = 0.02 # cores; a process that uses more computes

        # +tree+: the server's ProcessTree.
        def initialize(tree, port)
          @tree = tree
          @port = port
          over
        end

        # Runs the block, which sends a request, and returns its value: what Server::Probe.status says.
        def observe
          asked = Cuttle.now
          before = @tree.cpu_with_reaped if @began
          status = yield
          status == :silent ? note(asked, before) : over
          status
        end

        # What the server does while its app hangs, in words; nil if it may still load the app.
        def fault
          return if @busy.nil?
          return "is idle" if @busy.empty? && long?(@began)

          "still computes" if @busy.any? && (@busy - @takers).empty? && long?(@taken)
        end

        private

        def over
          @began = @taken = @busy = nil
          @takers = []
        end

        # No answer has come to a request that was sent at +asked+. +before+: CPU seconds by process then, or nil.
        def note(asked, before)
          @began ||= asked
          sockets = ProcessTree.accepted(@port)
          @takers |= @tree.pids.select { |pid| ProcessTree.open?(pid, sockets) }
          @taken ||= asked if @takers.any?
          @busy = before && busy(before, IDLE * (Cuttle.now - asked))
        end

        # Pids of the processes that have computed for more than that many seconds since.
        def busy(before, seconds)
          @tree.cpu_with_reaped.filter_map { |pid, cpu| pid if cpu - before.fetch(pid, 0) > seconds }
        end

        def long?(since) = Cuttle.now >= since + LIMIT
      end
    end
  end
end
