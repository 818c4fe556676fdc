# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # Its option for threads counts for apps of its own kind only: a rackup file is always run by one thread.
        class Agoo < Peer
          def gems = %w[agoo rack]

          def arguments(setup)
            ["agoo", "-p", setup.port.to_s, "-w", "1", setup.app]
          end
        end
      end
    end
  end
end
