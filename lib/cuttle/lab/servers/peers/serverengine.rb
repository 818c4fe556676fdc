# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # A framework that forks and supervises workers of any protocol. Here each worker has one connection at a time.
        class Serverengine < Adapted
          PROGRAM = "#{__dir__}/adapters/serverengine_program.rb"

          def gems = %w[serverengine rack:<3]
          def backlog(setup) = setup.backlog

          def arguments(setup)
            [setup.port.to_s, setup.backlog.to_s, setup.workers.to_s, "#{setup.log}.serverengine"]
          end
        end
      end
    end
  end
end
