# frozen_string_literal: true

module Cuttle
  module Lab
    module Peers
      class Agoo < Peer
        def gems = %w[agoo rack]
        def workers = (0..0)
        def threads = ANY

        def arguments(setup)
          ["agoo", "-p", setup.port.to_s, "-w", "1", "-t", setup.threads.to_s, setup.app]
        end
      end
    end
  end
end
