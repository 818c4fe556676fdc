# frozen_string_literal: true

module Cuttle
  module Lab
    module Services
      # What services have in common: a Child; and a port, where that is the first that it says.
      class Daemon
        def initialize(child)
          @child = child
        end

        def pid
          @child.pid
        end

        # On 127.0.0.1.
        def port
          @child.words.first.to_i
        end

        def stop
          @child.stop
        end
      end
    end
  end
end
