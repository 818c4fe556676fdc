# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        class Thin < Peer
          def gems = %w[thin rack rackup]
          def models = %w[evented threaded]
          def thread_name = /\Aeventmachine\.r/

          def threads_of(setup)
            setup.model == "threaded" ? ANY : (1..1)
          end

          def arguments(setup)
            pool = setup.model == "threaded" ? ["--threaded", "--threadpool-size", setup.threads.to_s] : []
            ["thin", "start", "-a", "127.0.0.1", "-p", setup.port.to_s, "-e", "production", "-q", *pool,
             "-R", setup.app]
          end
        end
      end
    end
  end
end
