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
      Cuttle.compile or raise Server::Failed, "rake compile failed (see #{LOGS}/compile.log)"
    end

    # Compiles the extension where its sources are newer, once a run. Returns whether it is there.
    def self.compile
      return @compiled unless @compiled.nil?

      FileUtils.mkdir_p(LOGS)
      @compiled = system("rake", "--silent", "compile", chdir: ROOT, out: "#{LOGS}/compile.log", err: %i[child out])
    end

    def command(port)
      [RbConfig.ruby, "-I#{ROOT}/lib", EXECUTABLE, "serve", "-q", "-b", "tcp://127.0.0.1:#{port}", *@options, @path]
    end
  end
end
