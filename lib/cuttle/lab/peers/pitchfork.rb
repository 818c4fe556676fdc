# frozen_string_literal: true

module Cuttle
  module Lab
    module Peers
      # Its workers may be each other's children: they say by their titles what they are.
      class Pitchfork < Unicornish
        TITLE = /worker\[\d+\]/

        def gems = %w[pitchfork rack]

        private

        def flags = []

        def configuration(setup)
          ["listen #{address(setup).inspect}, backlog: #{setup.backlog}, tcp_nopush: false",
           "worker_processes #{setup.workers}"]
        end

        def processes(server)
          titles = server.tree.pids.map { |pid| File.read("/proc/#{pid}/cmdline") }
          Proof.same("workers", server.setup.workers, titles.grep(TITLE).length, "processes whose titles say so")
        rescue Errno::ENOENT
          retry # one ended since we looked
        end
      end
    end
  end
end
