# frozen_string_literal: true

require "cuttle/core"

module Cuttle
  module Http
    module Parsers
      # The parser in C, with the contract of the others. The server's connections call its C functions directly.
      class Native
        def self.study_only?
          false
        end
      end
    end
  end
end
