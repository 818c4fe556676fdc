# frozen_string_literal: true

module Bench
  # Cuttle as this checkout has it, started as a user would.
  class Cuttle < Recipe
    EXECUTABLE = File.join(ROOT, "exe/cuttle")

    attr_reader :probe

    # options: flags of `cuttle serve`; path: the rackup file or directory to serve.
    def initialize(name, *options, path:, env: {}, probe: ["/", 13])
      super(name, env: env)
      @options = options
      @path = path
      @probe = probe
    end

    # A checkout's version is its commit, with a + where files differ from it.
    def version
      IO.popen(["git", "-C", ROOT, "describe", "--always", "--dirty=+"], err: File::NULL, &:read).strip
    end

    def unavailable
      "this checkout has no exe/cuttle" unless File.exist?(EXECUTABLE)
    end

    def prepare
      Cuttle.make_ready or raise Server::Failed, "bin/cuttle could not make itself ready (see #{LOGS}/setup.log)"
    end

    # Has bin/cuttle install gems and compile where that is to be done; once a run. Returns whether all is there.
    def self.make_ready
      return @ready unless @ready.nil?

      FileUtils.mkdir_p(LOGS)
      @ready = system(Server::CLEAN, "#{ROOT}/bin/cuttle", "--version", out: "#{LOGS}/setup.log", err: %i[child out])
    end

    # bin/cuttle's gems, without Bundler in the server: no other server has it in its memory.
    def environment(setup)
      ::Cuttle::Lab::Servers::Peers.find("cuttle").environment(setup)
    end

    def command(setup)
      [RbConfig.ruby, "-I#{ROOT}/lib", EXECUTABLE, "serve", "-q", "-b", "tcp://127.0.0.1:#{setup.port}", *@options, @path]
    end
  end
end
