# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # Rainbows with a fixed pool of threads (ThreadPool) and a connection for each.
        class Rainbows < Unicorn
          def gems = %w[rainbows rack:<3]
          def threads = ANY
          def thread_name = /\Athread_pool\.rb/
          def keeps_alive = [true, false]

          private

          def configuration(setup)
            [*super, "Rainbows! do", "  use :ThreadPool", "  worker_connections #{setup.threads}",
             "  keepalive_timeout #{setup.keep_alive ? 65 : 0}", "end"]
          end
        end
      end
    end
  end
end
