# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # Agoo's option for threads only concerns its own kind of apps. A rackup file is always run by one thread.
        class Agoo < Peer
          # It requires logger, which is no default gem of Ruby 4.
          def gems = %w[agoo rack logger]

          def arguments(setup)
            ["agoo", "-p", setup.port.to_s, "-w", "1", setup.app]
          end
        end
      end
    end
  end
end
