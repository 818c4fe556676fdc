# frozen_string_literal: true

module Cuttle
  module Lab
    module Peers
      class Itsi < Peer
        def gems = %w[itsi-server rack]
        def workers = (0..)
        def threads = ANY
        def leader_serves? = true

        def arguments(setup)
          ["itsi", "serve", "-b", "http://#{address(setup)}", "-w", setup.processes.to_s, "-t", setup.threads.to_s,
           "-r", setup.app]
        end
      end
    end
  end
end
