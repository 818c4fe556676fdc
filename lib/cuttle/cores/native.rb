# frozen_string_literal: true

require "cuttle/core"

module Cuttle
  module Cores
    # The core in C (ext/cuttle).
    module Native
      Poller = Cuttle::Poller
      Acceptor = Cuttle::Acceptor
      Beneath = Cuttle::Beneath
      Scoreboard = Cuttle::Scoreboard

      # The native parser is part of the core.
      def self.parser(name)
        Http::Parsers.fetch(name) unless name == "native"
      end
    end
  end
end
