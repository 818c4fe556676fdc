# frozen_string_literal: true

module Bench
  # The canned responder (benchmark/canned/canned.c), answering what the given server answers to the same request, so
  # that both write the same octets.
  class Canned < Recipe
    SOURCE = File.join(ROOT, "benchmark/canned/canned.c")

    # like: a recipe whose response is copied; where it can't be started, canned.c's own is used, of about that size.
    def initialize(name = "canned", like: nil, edge: false)
      super(name)
      @like = like
      @edge = edge
    end

    def unavailable
      "gcc is not installed" unless Program.path("gcc")
    end

    def prepare
      @program = Native.compile(SOURCE)
      @response = copy_response
    end

    def command(setup)
      [@program, setup.port.to_s, *("--edge" if @edge), *@response]
    end

    private

    def copy_response
      return if @like.nil? || @like.unavailable

      @like.prepare
      path = File.join(TMP, "canned-response")
      Server.open(@like, Cores.new, TMP) { |server| File.binwrite(path, server.get("/").bytes) }
      path
    rescue Server::Failed
      nil
    end
  end
end
