# frozen_string_literal: true

module Cuttle
  module Lab
    module Peers
      class Itsi < Peer
        def gems = %w[itsi-server rack]
        def workers = (0..)
        def threads = ANY

        # One worker is the process itself.
        def arguments(setup)
          ["itsi", "serve", "-b", "http://#{address(setup)}", "-w", setup.processes.to_s, "-t", setup.threads.to_s,
           "-r", setup.app]
        end

        private

        def processes(server)
          wanted = server.setup.processes == 1 ? 0 : server.setup.workers
          Proof.same("workers", wanted, server.tree.children.length, "children of the leader, which serves where it is alone")
        end

        def settings(server)
          [processes(server), counted_threads(server)]
        end
      end
    end
  end
end
