# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # The server from which Thin, Unicorn and Puma descend. It has a thread for each connection, as WEBrick has.
        class Mongrel < Webrick
          # Newer compilers warn about its extension.
          def gems = %w[mongrel:1.2.0.pre2 rack:<2]
          def bundled? = false
          def build_flags = %w[-- --with-cflags=-O2\ -Wno-error=format-security]
          def keeps_alive = [false]

          def arguments(setup)
            ["rackup", "-s", "mongrel", "-E", "production", "-o", "127.0.0.1", "-p", setup.port.to_s, setup.app]
          end
        end
      end
    end
  end
end
