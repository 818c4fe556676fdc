# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        class Rhebok < Peer
          def gems = %w[rhebok rack:<3]
          def bundled? = false
          def workers = ANY
          def keeps_alive = [false]

          def arguments(setup)
            ["rackup", "-s", "Rhebok", "-E", "production", "-o", "127.0.0.1", "-p", setup.port.to_s,
             "-O", "MaxWorkers=#{setup.workers}", setup.app]
          end
        end
      end
    end
  end
end
