# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # Unicorn, and the parts that its descendants (Pitchfork, Rainbows) share with it: a master that never serves,
        # and a configuration file.
        class Unicorn < Peer
          # Unicorn requires logger, which is not a default gem of Ruby 4.
          def gems = %w[unicorn rack logger]

          # kgio, its gem for sockets, ends workers by SIGSEGV there.
          def crashes_since = "4.0"

          def workers = ANY
          def keeps_alive = [false]
          def backlog(setup) = setup.backlog

          def arguments(setup)
            [program, *flags, "-E", "production", "-c", setup.file("rb", configuration(setup).join("\n")), setup.app]
          end

          private

          # -N: without Unicorn's own middleware.
          def flags = %w[-N]

          def configuration(setup)
            ["listen #{address(setup).inspect}, backlog: #{setup.backlog}, tcp_nopush: false",
             "worker_processes #{setup.workers}", "preload_app true"]
          end
        end
      end
    end
  end
end
