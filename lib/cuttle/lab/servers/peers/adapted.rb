# frozen_string_literal: true

require "rbconfig"

module Cuttle
  module Lab
    module Servers
      module Peers
        # A server without Rack support: PROGRAM, one of the lab's programs, runs it with an adapter for a Rack app. The
        # app is loaded before the server forks.
        class Adapted < Peer
          LOAD = 'require "rack"; APP = Array(Rack::Builder.parse_file(ARGV.shift)).first; load ARGV.shift'

          def bundled? = false
          def workers = ANY
          def keeps_alive = [false]

          # arguments(setup): the program's arguments.
          def command(setup)
            [setup.ruby || RbConfig.ruby, "-e", LOAD, setup.app, self.class::PROGRAM, *arguments(setup)]
          end
        end
      end
    end
  end
end
