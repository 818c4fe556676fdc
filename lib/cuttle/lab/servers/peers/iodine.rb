# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        class Iodine < Peer
          def gems = %w[iodine rack]
          def workers = (0..)
          def threads = ANY
          def leader_serves? = true

          # One thread writes, and the first one waits for the pool to end. A process with a single thread has neither.
          def own_threads(setup) = setup.threads > 1 ? 2 : 1

          def arguments(setup)
            ["iodine", "-b", "127.0.0.1", "-p", setup.port.to_s, "-w", forks(setup).to_s, "-t", setup.threads.to_s,
             setup.app]
          end

          private

          # Since 0.8, -w 0 is one process without workers. Before, it was a process for each core.
          def forks(setup)
            Gem::Version.new(version) < Gem::Version.new("0.8") ? setup.processes : setup.workers
          end
        end
      end
    end
  end
end
