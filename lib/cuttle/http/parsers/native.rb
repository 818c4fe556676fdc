# frozen_string_literal: true

module Cuttle
  module Http
    module Parsers
      # The parser in C, with the contract of the others. The server's connections call its C functions directly.
      class Native
        # Loads the core, which defines the other methods, unless the core itself loads this file: then its Poller
        # exists.
        Cuttle.const_get(:Poller)

        def self.study_only?
          false
        end
      end
    end
  end
end
