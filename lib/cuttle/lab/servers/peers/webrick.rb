# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        class Webrick < Peer
          def gems = %w[webrick rack rackup]

          def slots(_setup) = nil

          # WEBrick has a thread for each connection, which 0 stands for. 1 stands for servers without an option for
          # threads.
          def threads = (0..1)

          def arguments(setup)
            ["rackup", "-q", "-s", "webrick", "-E", "production", "-o", "127.0.0.1", "-p", setup.port.to_s, setup.app]
          end

          private

          # The number of threads can't be set, so there is nothing to prove.
          def settings(server)
            [processes(server)]
          end
        end
      end
    end
  end
end
