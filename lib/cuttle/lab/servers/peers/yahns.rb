# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        class Yahns < Peer
          def gems = %w[yahns rack:<3]

          # It uses kgio, like Unicorn.
          def crashes_since = "4.0"

          def workers = (0..)
          def threads = ANY
          def thread_name = /\Aqueue_epoll\.rb/
          def backlog(setup) = setup.backlog

          def arguments(setup)
            config = setup.file("rb", <<~RUBY)
              #{"worker_processes #{setup.workers}" if setup.workers.positive?}
              queue { worker_threads #{setup.threads} }
              app(:rack, #{setup.app.inspect}) do
                listen #{address(setup).inspect}, backlog: #{setup.backlog}
                client_timeout 65
              end
            RUBY
            ["yahns", "-c", config]
          end
        end
      end
    end
  end
end
