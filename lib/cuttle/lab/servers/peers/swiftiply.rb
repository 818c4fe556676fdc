# frozen_string_literal: true

module Cuttle
  module Lab
    module Servers
      module Peers
        # An evented router of 2007. Processes that serve one request at a time connect to it.
        class Swiftiply < Adapted
          PROGRAM = "#{__dir__}/adapters/swiftiply_program.rb"

          # Newer compilers warn about its extensions.
          def gems = %w[swiftiply:1.0.0 rack:<2]
          def build_flags = %w[-- --with-cflags=-O2\ -Wno-error=format-security]

          def arguments(setup)
            [setup.port.to_s, Ports.free.to_s, setup.workers.to_s, "#{setup.log}.yml"]
          end
        end
      end
    end
  end
end
