# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # A worker may be a child of another worker, so titles identify them.
        class Pitchfork < Unicorn
          def gems = %w[pitchfork rack]
          def crashes_since = nil
          def worker_title = /worker\[\d+\]/

          private

          def flags = []

          def configuration(setup)
            ["listen #{address(setup).inspect}, backlog: #{setup.backlog}, tcp_nopush: false",
             "worker_processes #{setup.workers}"]
          end
        end
      end
    end
  end
end
