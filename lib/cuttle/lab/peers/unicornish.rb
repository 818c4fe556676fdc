# frozen_string_literal: true

module Cuttle
  module Lab
    module Peers
      # What Unicorn and its children have in common: a master that never serves, and a configuration file.
      class Unicornish < Peer
        def workers = ANY
        def keeps_alive = [false]
        def backlog(setup) = setup.backlog

        def arguments(setup)
          [name, *flags, "-E", "production", "-c", setup.file("rb", configuration(setup).join("\n")), setup.app]
        end

        private

        # -N: no middleware of its own.
        def flags = %w[-N]

        def configuration(setup)
          ["listen #{address(setup).inspect}, backlog: #{setup.backlog}, tcp_nopush: false",
           "worker_processes #{setup.workers}", "preload_app true"]
        end
      end
    end
  end
end
