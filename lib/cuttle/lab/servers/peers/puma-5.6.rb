# rubocop:disable Naming/FileName
# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # Puma 5.6, which takes connections in its former way. Its keep-alive can't be turned off.
        class Puma56 < Puma
          def gems = %w[puma:5.6.9 rack:<3]
          def bundled? = false
          def keeps_alive = [true]
          def thread_name = /\Apuma threadpoo\z|\Apuma srv tp/

          def arguments(setup)
            ["puma", "-C", "-", "-q", "-e", "production", "-b", "tcp://#{address(setup)}?backlog=#{setup.backlog}",
             "-t", "#{setup.threads}:#{setup.threads}", *workers_of(setup), setup.app]
          end

          private

          def workers_of(setup)
            ["-w", setup.workers.to_s, "--preload"] if setup.workers.positive?
          end
        end
      end
    end
  end
end
# rubocop:enable Naming/FileName
