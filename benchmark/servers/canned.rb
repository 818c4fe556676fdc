# frozen_string_literal: true

module Bench
  # The canned responder (benchmark/canned/canned.c) as a peer of the lab. It answers each request with the octets that
  # Cuttle answers to GET / from the same app, or with given octets.
  class Canned < Peers::Peer
    SOURCE = File.join(ROOT, "benchmark/canned/canned.c")
    EDGE = "edge" # the model with edge-triggered epoll

    def initialize(name = "canned", response: nil)
      super(name)
      @response = response
    end

    def models = [nil]
    def variants = [EDGE]
    def version = nil
    def unavailable = ("gcc is not installed" unless Lab::Machine.program("gcc"))

    def command(setup)
      [Bench.compile(SOURCE), setup.port.to_s, file(setup), *("--edge" if setup.model == EDGE)]
    end

    private

    # The file with the octets of the response.
    def file(setup)
      setup.file("response", @response ||= copied(setup))
    end

    def copied(setup)
      Bench.serve(Peers.find("cuttle"), setup.cores, model: "reactor", app: setup.app, env: setup.env) do |server|
        answer = server.get("/")
        answer.head + answer.body
      end
    end
  end

  Peers.add(Canned.new)
end
