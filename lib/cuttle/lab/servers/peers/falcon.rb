# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # Falcon always forks, even for one process.
        class Falcon < Peer
          def gems = %w[falcon]
          def workers = ANY

          def fibers? = true
          def slots(_setup) = nil

          # -c: HTTP/1.1 without TLS. --forked and -n: processes.
          def arguments(setup)
            ["falcon", "serve", "-b", "http://#{address(setup)}", "--forked", "-n", setup.workers.to_s, "-c", setup.app]
          end
        end
      end
    end
  end
end
