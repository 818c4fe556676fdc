# frozen_string_literal: true

module Cuttle
  module Lab
    module Peers
      class Haproxy < Peer
        # HAProxy's file: one thread, one address to come in by, servers on Unix sockets.
        #
        #   no checks       a request that nobody sent would be work, and there is nothing to be found out: a server that
        #                   ends ends the lab's run
        #   no maxconn of a server    it would keep requests back, and give them to whoever is free: one queue for all
        class Configuration
          CACHED = "cached"
          # Model => how it is balanced. HAProxy's own "random" draws two servers and takes the less busy one of them;
          # a router that knows nothing draws one.
          BALANCE = { "random" => "random(1)", "roundrobin" => "roundrobin", "leastconn" => "leastconn",
                      CACHED => "leastconn" }.freeze
          CONNECTIONS = 4000
          CACHE = <<~TEXT
            cache answers
              total-max-size 16
              max-object-size 1000000
              max-age 3600

          TEXT

          # sockets: paths of the servers' own; control: of the one on which HAProxy answers questions.
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

          # httpclose ends a client's connection after its request as well.
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
      end
    end
  end
end
