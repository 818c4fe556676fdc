# frozen_string_literal: true

require "json"
require "rbconfig"

module Cuttle
  module Lab
    module Peers
      # Several of our servers, each alone and on a socket of its own, behind Debian's HAProxy: what a platform's router
      # does. A worker is such a server, hybrid, or single where it has one thread. The models are how requests are
      # given out; none of them knows who is busy with what.
      #
      # Every request has a connection of its own between HAProxy and a server, whatever the client's habit is: where a
      # connection persisted, a server with one slot would be held by it, and who waits would wait in HAProxy. So
      # requests wait where they were sent to, in that server's backlog.
      class Haproxy < Peer
        autoload :Configuration, "cuttle/lab/peers/haproxy/configuration"
        autoload :Statistics, "cuttle/lab/peers/haproxy/statistics"

        PROGRAM = "#{__dir__}/haproxy/router_program.rb"
        CACHED = Configuration::CACHED

        def initialize(name)
          super
          @cuttle = Cuttle.new("cuttle")
        end

        def models = %w[random roundrobin leastconn]
        # leastconn, with HAProxy's cache before it.
        def variants = [CACHED]
        def workers = ANY
        def threads = ANY
        def keeps_alive = [true, false]
        def backlog(setup) = setup.backlog
        def worker_title = %r{\0unix://[^\0]+\.sock\0}
        def thread_name = @cuttle.thread_name

        def unavailable
          "not installed: the Debian package haproxy has it" unless executable
        end

        def version
          IO.popen([executable, "-v"], err: %i[child out], &:read)[/\d+\.\d+[\w.]*/]
        end

        def environment(setup)
          @cuttle.environment(setup)
        end

        def command(setup)
          sockets = Array.new(setup.workers) { |number| "#{setup.log}.#{number + 1}.sock" }
          configuration = setup.file("cfg", Configuration.new(setup, sockets, control(setup)).to_s)
          backends = sockets.map { |socket| { socket: socket, command: @cuttle.command(alone(setup), "unix://#{socket}") } }
          plan = setup.file("json", JSON.generate(backends: backends, router: [executable, "-db", "-f", configuration]))
          [RbConfig.ruby, PROGRAM, plan]
        end

        private

        # As one server of several.
        def alone(setup)
          setup.dup.tap do |each|
            each.model = engine(setup)
            each.workers = 0
            each.keep_alive = false
          end
        end

        def engine(setup)
          setup.threads == 1 ? "single" : "hybrid"
        end

        # The socket on which it can be asked how it goes.
        def control(setup)
          "#{setup.log}.control"
        end

        def port(server)
          names = server.tree.listeners(server.port).map { |pid| server.tree.name(pid) }.uniq
          found = names == %w[haproxy]
          Proof.new("port", server.port, found ? server.port : nil, found,
                    "#{names.empty? ? "nobody" : names.join(", ")} of its processes has the listening socket")
        end

        def settings(server)
          statistics = Statistics.new(control(server.setup))
          [balance(server, statistics), cache(server, statistics), servers(server, statistics), engines(server),
           processes(server), (named_threads(server) if server.setup.threads > 1)].compact
        end

        def balance(server, statistics)
          wanted = Configuration::BALANCE.fetch(server.setup.model)
          Proof.new("balance", wanted, statistics.balance, Statistics.means?(statistics.balance, wanted),
                    "the algorithm of its backend, by its statistics")
        end

        def cache(server, statistics)
          Proof.same("cache", server.setup.model == CACHED, statistics.cache?, "its own word")
        end

        def servers(server, statistics)
          Proof.same("servers", server.setup.workers, statistics.up, "servers of its backend that are there, by its statistics")
        end

        def engines(server)
          said = server.output.scan(/^  engine +(\S+)$/).flatten.uniq
          Proof.same("engine", engine(server.setup), said.length == 1 ? said.first : said.join(", "), "the servers' own word")
        end
      end
    end
  end
end
