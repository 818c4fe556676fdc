# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        class Puma < Peer
          def gems = %w[puma rack rackup]
          def workers = (0..)
          def threads = (1..)
          def keeps_alive = [true, false]
          def backlog(setup) = setup.backlog
          def thread_name = /\Apuma srv tp \d+\z/

          # Puma has no flag for keep-alive. With this file, Puma does not read the app's own config/puma.rb.
          def arguments(setup)
            config = setup.file("rb", <<~RUBY)
              bind "tcp://#{address(setup)}?backlog=#{setup.backlog}"
              environment "production"
              workers #{setup.workers}
              threads #{setup.threads}, #{setup.threads}
              enable_keep_alives #{setup.keep_alive}
              #{"preload_app!" if setup.workers.positive?}
              quiet
            RUBY
            ["puma", "-C", config, setup.app]
          end
        end
      end
    end
  end
end
