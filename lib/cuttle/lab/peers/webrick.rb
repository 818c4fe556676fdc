# frozen_string_literal: true

module Cuttle
  module Lab
    module Peers
      class Webrick < Peer
        def gems = %w[webrick rack rackup]

        def slots(_setup) = nil

        def arguments(setup)
          ["rackup", "-q", "-s", "webrick", "-E", "production", "-o", "127.0.0.1", "-p", setup.port.to_s, setup.app]
        end
      end
    end
  end
end
