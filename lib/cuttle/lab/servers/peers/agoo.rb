# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # Agoo's option for threads concerns only its own kind of apps. One thread always runs a rackup file.
        class Agoo < Peer
          # Agoo requires logger, which is not a default gem of Ruby 4.
          def gems = %w[agoo rack logger]

          def arguments(setup)
            ["agoo", "-p", setup.port.to_s, "-w", "1", setup.app]
          end
        end
      end
    end
  end
end
