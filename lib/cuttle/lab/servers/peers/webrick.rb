# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        class Webrick < Peer
          def gems = %w[webrick rack rackup]

          def slots(_setup) = nil

          # A thread for each connection: 0 says that, and 1 is what those are given that can't be told a number.
          def threads = (0..1)

          def arguments(setup)
            ["rackup", "-q", "-s", "webrick", "-E", "production", "-o", "127.0.0.1", "-p", setup.port.to_s, setup.app]
          end

          private

          # How many threads there are, nobody can tell it.
          def settings(server)
            [processes(server)]
          end
        end
      end
    end
  end
end
