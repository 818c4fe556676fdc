# frozen_string_literal: true

require "json"
require "net/http"
require "socket"
require "tmpdir"

module Cuttle
  module Lab
    module Servers
      module Peers
        # Debian's Passenger. Its grandchildren run the app; their titles identify them. By default it caches responses
        # that allow it, which would be an unfair advantage, so the cache is off except in the variant for it. (Its
        # option for the backlog crashes Debian's version.)
        class Passenger < Peer
          TURBOCACHED = "turbocached"

          def variants = [TURBOCACHED]
          def package = "passenger"
          def workers = ANY
          def worker_title = /\APassenger RubyApp/

          def arguments(setup)
            [executable, "start", "-e", "production", "-a", "127.0.0.1", "-p", setup.port.to_s, "--engine=builtin",
             "--min-instances", setup.workers.to_s, "--max-pool-size", setup.workers.to_s,
             "--log-file", "#{setup.log}.passenger", "--pid-file", "#{setup.log}.pid",
             *("--disable-turbocaching" unless setup.model == TURBOCACHED), "--disable-security-update-check",
             "--preload-bundler", "-R", setup.app]
          end

          private

          def settings(server)
            cached = Core.of(server.tree)&.configuration&.dig("turbocaching", "effective_value")
            [*super, Proof.same("cache", server.setup.model == TURBOCACHED, cached, "as its core reports")]
          end

          # Passenger's process that accepts requests, asked on the Unix socket of its administration.
          class Core
            USER = "ro_admin" # a user who may only read
            DIRECTORIES = ["/tmp", "/var/run/passenger-instreg"].freeze

            # The core among a server's processes, or nil.
            def self.of(tree)
              pids = tree.pids
              found = [Dir.tmpdir, *DIRECTORIES].uniq.flat_map { |path| Dir["#{path}/passenger.*"] }
                                                .find { |path| pids.include?(pid(path)) }
              found && new(found)
            end

            # The pid of the core of the instance in that directory, or nil.
            def self.pid(directory)
              File.read("#{directory}/core.pid").to_i
            rescue SystemCallError
              nil
            end

            def initialize(directory)
              @directory = directory
            end

            # Its settings by name, from its JSON; nil if it does not answer.
            def configuration
              request = Net::HTTP::Get.new("/config.json")
              request.basic_auth(USER, File.read("#{@directory}/read_only_admin_password.txt").strip)
              response = ask(request)
              JSON.parse(response.body) if response.is_a?(Net::HTTPOK)
            rescue SystemCallError, EOFError, JSON::ParserError
              nil
            end

            private

            def ask(request)
              UNIXSocket.open("#{@directory}/agents.s/core_api") do |socket|
                stream = Net::BufferedIO.new(socket, read_timeout: 5)
                request.exec(stream, "1.1", request.path)
                response = Net::HTTPResponse.read_new(stream)
                response.reading_body(stream, true) { nil }
                response
              end
            end
          end
          private_constant :Core
        end
      end
    end
  end
end
