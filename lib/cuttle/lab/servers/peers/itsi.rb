# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        class Itsi < Peer
          def gems = %w[itsi-server rack]
          def workers = (0..)
          def threads = ANY
          def leader_serves? = true
          def backlog(setup) = setup.backlog

          # The first thread, and the one that reads and writes.
          def own_threads(_setup) = 2

          # Puts Itsi's pid file there, not into the app's directory.
          def environment(setup)
            super.merge("ITSI_SERVER_PID_DIR" => File.dirname(setup.log))
          end

          def arguments(setup)
            config = setup.file("rb", "listen_backlog #{setup.backlog}\n")
            ["itsi", "serve", "-C", config, "-b", "http://#{address(setup)}", "-w", setup.processes.to_s,
             "-t", setup.threads.to_s, "-r", setup.app]
          end
        end
      end
    end
  end
end
