# frozen_string_literal: true

module Cuttle
  # The cores: who reads requests, keeps connections and sends responses. The contract of every core is a module with
  #
  #   Poller, Acceptor   the sources of engines (see Engines), with their Exchanges and Connections
  #   Beneath            opens files below a directory, for Cuttle::Static
  #   Scoreboard         what the workers of a cluster show each other
  #   .parser(name)      the parser class for a setting, or nil where the core has it built in
  #
  # Both cores pass the same contract suites; a test compares their answers octet by octet.
  module Cores
    extend Catalogue

    list "core", "cuttle/cores", {
      "native" => ["Native", "C: the default"],
      "pure" => ["Pure", "Ruby: for Rubies that load no C extension, to read, and to check the native one"]
    }

    # The core that this Ruby can run: "native", or "pure" where there are no C extensions.
    def self.default
      RUBY_ENGINE == "ruby" ? "native" : "pure"
    end
  end
end
