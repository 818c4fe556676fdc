# frozen_string_literal: true

require "rbconfig"

module Cuttle
  module Lab
    module Servers
      module Peers
        # A server that knows nothing of Rack: a program of ours, PROGRAM, runs it with an adapter for a Rack app. The
        # app is loaded before the server forks.
        class Adapted < Peer
          LOAD = 'require "rack"; APP = Array(Rack::Builder.parse_file(ARGV.shift)).first; load ARGV.shift'

          def bundled? = false
          def workers = ANY
          def keeps_alive = [false]

          # arguments(setup): those of the program.
          def command(setup)
            [setup.ruby || RbConfig.ruby, "-e", LOAD, setup.app, self.class::PROGRAM, *arguments(setup)]
          end
        end
      end
    end
  end
end
