# frozen_string_literal: true

require "json"
require "rbconfig"
require "socket"

module Cuttle
  module Lab
    module Servers
      module Peers
        # Several Cuttle servers, each alone on its own socket, behind Debian's HAProxy, as behind a platform's router.
        # A worker is such a server: hybrid, or single if it has one thread. The models are ways to distribute requests;
        # none of them knows how busy a server is inside.
        #
        # HAProxy opens a connection to a server for each request, whether or not the client keeps its own. A persistent
        # connection would occupy a server with one slot, and other requests would wait in HAProxy. This way, requests
        # wait in the backlog of their server.
        class Haproxy < Peer
          PROGRAM = "#{__dir__}/haproxy/router_program.rb"
          CACHED = "cached" # a variant: leastconn, with HAProxy's cache before it

          def initialize(name)
            super
            @cuttle = Cuttle.new("cuttle")
          end

          def models = %w[random roundrobin leastconn]
          # leastconn with HAProxy's cache before it.
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

          def version = stated_version("-v")

          def environment(setup)
            @cuttle.environment(setup)
          end

          def command(setup)
            sockets = Array.new(setup.workers) { |number| "#{setup.log}.#{number + 1}.sock" }
            configuration = setup.file("cfg", Configuration.new(setup, sockets, control(setup)).to_s)
            backends = sockets.map do |socket|
              { socket: socket, command: @cuttle.command(alone(setup), "unix://#{socket}") }
            end
            router = [executable, "-db", "-f", configuration]
            plan = setup.file("json", JSON.generate(backends: backends, router: router))
            [RbConfig.ruby, PROGRAM, plan]
          end

          private

          # The setup of one of the servers.
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

          # The control socket.
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
            Proof.same("cache", server.setup.model == CACHED, statistics.cache?, "as it reports")
          end

          def servers(server, statistics)
            Proof.same("servers", server.setup.workers, statistics.up,
                       "servers of its backend that are there, by its statistics")
          end

          def engines(server)
            said = server.output.scan(/^  engine +(\S+)$/).flatten.uniq
            Proof.same("engine", engine(server.setup), said.join(", "), "as the servers report")
          end

          # HAProxy's configuration: one thread, one address, servers on Unix sockets.
          #
          #   no checks       they would be additional requests, and find nothing: a server that ends also ends the run
          #   no maxconn for a server   HAProxy would hold requests back and give them to a free server, like one queue
          #                   for all
          class Configuration
            # Model => its algorithm. HAProxy's "random" draws two servers and takes the less busy one. "random(1)"
            # draws one, like a router without knowledge of its servers.
            BALANCE = { "random" => "random(1)", "roundrobin" => "roundrobin", "leastconn" => "leastconn",
                        CACHED => "leastconn" }.freeze
            CONNECTIONS = 4000
            CACHE = <<~TEXT
              cache answers
                total-max-size 16
                max-object-size 1000000
                max-age 3600

            TEXT

            # sockets: paths of the servers' sockets. control: path of HAProxy's control socket.
            def initialize(setup, sockets, control)
              @setup = setup
              @sockets = sockets
              @control = control
            end

            def to_s
              [global, (CACHE if cached?), frontend, backend].join
            end

            private

            def cached?
              @setup.model == CACHED
            end

            # httpclose also closes a client's connection after its request.
            def global
              <<~TEXT
                global
                  nbthread 1
                  maxconn #{CONNECTIONS}
                  stats socket #{@control} mode 600 level admin

                defaults
                  mode http
                  timeout connect 5s
                  timeout client 60s
                  timeout server 60s
                  http-reuse never
                  option #{@setup.keep_alive ? "http-server-close" : "httpclose"}

              TEXT
            end

            def frontend
              cache = ["  http-request cache-use answers\n", "  http-response cache-store answers\n"] if cached?
              <<~TEXT + cache.to_a.join
                frontend clients
                  bind 127.0.0.1:#{@setup.port} backlog #{@setup.backlog}
                  default_backend servers
              TEXT
            end

            def backend
              servers = @sockets.map.with_index(1) { |socket, number| "  server s#{number} unix@#{socket}\n" }
              "\nbackend servers\n  balance #{BALANCE.fetch(@setup.model)}\n#{servers.join}"
            end
          end

          # What a running HAProxy reports on its control socket. It is asked once; the answers are nil if it reports
          # nothing.
          class Statistics
            # HAProxy's output names only the algorithms that existed when the output was designed.
            NAMELESS = "unknown"

            # Whether HAProxy's name for an algorithm means +wanted+.
            def self.means?(said, wanted)
              name = wanted[/\w+/]
              said == name || (said == NAMELESS && name == "random")
            end

            def initialize(control)
              @control = control
            end

            # The algorithm of the backend.
            def balance
              row = rows.find { |each| each["svname"] == "BACKEND" }
              row && row["algo"]
            end

            # Number of servers in the backend that are not down.
            def up
              servers = rows.select { |each| each["pxname"] == "servers" && each["svname"] != "BACKEND" }
              servers.count { |each| each["status"] != "DOWN" }
            end

            # Whether there is a cache.
            def cache?
              ask("show cache").to_s.include?("answers")
            end

            private

            def rows
              @rows ||= begin
                head, *lines = ask("show stat").to_s.lines.map { |line| line.chomp.split(",", -1) }
                names = head.to_a.map { |name| name.delete_prefix("# ") }
                lines.map { |values| names.zip(values).to_h }
              end
            end

            def ask(question)
              UNIXSocket.open(@control) do |socket|
                socket.puts question
                socket.read
              end
            rescue SystemCallError
              nil
            end
          end
        end
      end
    end
  end
end
