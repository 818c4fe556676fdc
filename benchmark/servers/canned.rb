# frozen_string_literal: true

module Bench
  # The canned responder (benchmark/canned/canned.c) as a peer of the lab. It answers each request with the octets that
  # Cuttle answers to GET of a path from the same app, or with given octets. With bodies: true it reads the bodies of
  # requests.
  class Canned < Peers::Peer
    SOURCE = File.join(ROOT, "benchmark/canned/canned.c")
    EDGE = "edge" # the model with edge-triggered epoll

    def initialize(name = "canned", response: nil, path: "/", bodies: false)
      super(name)
      @response = response
      @path = path
      @bodies = bodies
      @copies = {}
    end

    def models = [nil]
    def variants = [EDGE]
    def keeps_alive = [true, false]
    def version = nil
    def unavailable = ("gcc is not installed" unless Lab::Machine.program("gcc"))

    def command(setup)
      [Bench.compile(SOURCE), setup.port.to_s, file(setup), *("--edge" if setup.model == EDGE),
       *("--close" unless setup.keep_alive), *("--bodies" if @bodies)]
    end

    private

    # The file with the octets of the response.
    def file(setup)
      setup.file("response", @response || (@copies[[setup.app, setup.keep_alive]] ||= copied(setup)))
    end

    def copied(setup)
      Bench.serve(Peers.find("cuttle"), setup.cores, model: "reactor", keep_alive: setup.keep_alive, app: setup.app,
                                                     env: setup.env) do |server|
        answer = server.get(@path)
        answer.head + answer.body
      end
    end
  end

  Peers.add(Canned.new)
end
