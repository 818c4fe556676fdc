# frozen_string_literal: true

require "cuttle/core"

module Cuttle
  module Http
    module Parsers
      # The parser in C, with the contract of the others. A server's connections call the C functions themselves.
      class Native
        def self.study_only?
          false
        end
      end
    end
  end
end
