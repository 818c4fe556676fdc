# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # An evented API server with a fiber for each request. Its apps are subclasses of its own class, so the lab
        # mounts the rackup file in such a class.
        class Goliath < Peer
          def gems = %w[goliath rack:<2]

          def fibers? = true
          def slots(_setup) = nil

          def arguments(setup)
            program = setup.file("rb", <<~RUBY)
              require "goliath"
              RACK = Rack::Builder.parse_file(#{setup.app.inspect}).first
              class Mounted < Goliath::API
                def response(env)
                  RACK.call(env)
                end
              end
              Goliath::Application.app_class = "Mounted"
            RUBY
            ["ruby", program, "-a", "127.0.0.1", "-p", setup.port.to_s, "-e", "production"]
          end

          # The command is one of the lab's programs, not a gem's.
          def command(setup)
            [setup.ruby || RbConfig.ruby, *arguments(setup).drop(1)]
          end
        end
      end
    end
  end
end
