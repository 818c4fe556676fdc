# frozen_string_literal: true

module Bench
  # Another server, from benchmark/peers.rb: installed by benchmark/setup into a gem directory of its own (or by Debian's
  # package), so that no peer changes what another one loads.
  class Peer < Recipe
    # One line of the table. gems: those to install, "name" or "name:version"; package: Debian's, where the program is in one;
    # run: the command line with %{port}, %{app}, %{threads}; keep_alive: whether it keeps connections;
    # build: what `gem install` hands to extconf.rb.
    Entry = Struct.new(:name, :gems, :package, :run, :env, :keep_alive, :build, keyword_init: true) do
      # Its own gem directory.
      def home
        File.join(TMP, "peers", "#{RUBY_ENGINE}-#{RUBY_VERSION}", name)
      end

      # "1.2.3" of the gem that is installed there; of a package, what its program says.
      def version
        return Program.version(program, "--version") if package

        gem = gems.first.split(":").first
        Dir[File.join(home, "specifications/#{gem}-*.gemspec")].filter_map { |path| path[/-(\d[\w.]*?)(-x86.*)?\.gemspec/, 1] }.max
      end

      def installed?
        (gems.nil? || File.exist?(stamp)) && !package_missing?
      end

      def package_missing?
        !package.nil? && Program.path(program).nil?
      end

      def program
        run.split.first
      end

      # Says that everything was installed, and what.
      def stamp
        File.join(home, ".installed-#{Digest::SHA256.hexdigest([gems, build].inspect)[0, 12]}")
      end
    end

    # The entry of that name.
    def self.entry(name)
      PEERS.find { |entry| entry.name == name } or raise ArgumentError, "no peer is named #{name}"
    end

    def initialize(name, app:, threads: 1, label: name, env: {})
      @entry = Peer.entry(name)
      @app = app
      @threads = threads
      super(label, env: {})
      @env = gem_environment.merge(@entry.env || {}, env)
    end

    def version
      @entry.version
    end

    def unavailable
      return if @entry.installed?

      @entry.package_missing? ? "not installed (Debian: #{@entry.package})" : "not installed: run benchmark/setup #{@entry.name}"
    end

    def command(port)
      words = @entry.run.split.map { |word| format(word, port: port, app: @app, threads: @threads) }
      @entry.package ? words : [RbConfig.ruby, "-S", *words]
    end

    private

    def gem_environment
      return {} unless @entry.gems

      { "GEM_HOME" => @entry.home, "GEM_PATH" => @entry.home, "PATH" => "#{@entry.home}/bin:#{ENV.fetch("PATH")}" }
    end
  end
end
