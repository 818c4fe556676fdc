# frozen_string_literal: true

require "rbconfig"

module Cuttle
  # The cores: who reads requests, keeps connections and sends responses. The contract of every core is a module with
  #
  #   Poller, Acceptor   the sources of engines (see Engines), with their Exchanges and Connections
  #   Beneath            opens files below a directory, for Cuttle::Static
  #   Scoreboard         what the workers of a cluster show each other, and where their requests spend time (Ledger)
  #   Hijacked           the sockets that the app of a server has taken over, and the end of WebSockets
  #   .tls               the class that secures connections (see Listeners::Tls), or nil
  #   .adopt_orphans     makes this process a subreaper, for a cluster's supervisor; returns whether it is one
  #   .limit_arenas(count)  lets malloc make at most so many arenas; returns whether this malloc has any
  #   .trim_memory      gives the pages of free memory back to the system; returns whether it can
  #   .redirect(stream, file)  puts another file behind a standard stream
  #   .parser(name)      the parser class for a setting, or nil where the core has it built in
  #
  # Both cores pass the same contract suites; a test compares their answers octet by octet.
  module Cores
    extend Catalogue

    list "core", "cuttle/cores", {
      "native" => ["Native", "C: the default"],
      "pure" => ["Pure", "Ruby: for Rubies that load no C extension, to read, and to check the native one"]
    }

    # Where the extension may be: a precompiled gem has one for each version of Ruby.
    LIBRARIES = ["cuttle/#{RUBY_VERSION[/\A\d+\.\d+/]}/core", "cuttle/core"]
                .map { |name| "#{name}.#{RbConfig::CONFIG["DLEXT"]}".freeze }.freeze

    # Why a core does not speak TLS, and what to do.
    TLS_MISSING = {
      "native" => "this Cuttle was built without OpenSSL; install its headers (libssl-dev, openssl-devel) and build " \
                  "again (gem pristine cuttle, or rake compile in a clone)",
      "pure" => "TLS needs --core native"
    }.freeze

    class << self
      # The name of this Ruby's extension, for `require`. Where there is none, the name that it would have.
      def library
        LIBRARIES.find { |name| found?(name) } || LIBRARIES.last
      end

      # The core to take where nobody chooses: "native" where it can be, else "pure".
      def default
        missing("native") ? "pure" : "native"
      end

      # Why that core can't be had here, and what to do; nil where it can.
      def missing(name)
        return if name != "native"
        return "there is none for #{RUBY_ENGINE}, which loads no C extensions" if RUBY_ENGINE == "jruby"
        return if found?(library)

        "it is not compiled here: install the gem without CUTTLE_CORE=pure, or run rake compile in a clone"
      end

      # The class of core +name+ that secures connections. Raises Error, which says what is missing.
      def tls(name)
        fetch(name).tls or raise Error, "can't listen on ssl://: #{TLS_MISSING.fetch(name)}"
      end

      private

      def found?(library)
        $LOAD_PATH.resolve_feature_path(library)&.first == :so
      end
    end
  end
end
