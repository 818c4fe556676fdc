# frozen_string_literal: true

require "json"
require "net/http"
require "socket"
require "tmpdir"

module Cuttle
  module Lab
    module Servers
      module Peers
        # Debian's. The processes that run the app are its grandchildren, which tell by their titles what they are.
        # It caches responses that say they may be kept, which would be its lead over all others: turned off, but in the
        # variant that is about that. (Its option for the backlog ends Debian's in a crash.)
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
            [*super, Proof.same("cache", server.setup.model == TURBOCACHED, cached, "its core's own word")]
          end

          # The process of a Passenger that takes requests, asked on the Unix socket of its own administration.
          class Core
            USER = "ro_admin" # who may read and change nothing
            DIRECTORIES = ["/tmp", "/var/run/passenger-instreg"].freeze

            # The core among a server's processes, or nil.
            def self.of(tree)
              pids = tree.pids
              found = [Dir.tmpdir, *DIRECTORIES].uniq.flat_map { |path| Dir["#{path}/passenger.*"] }
                                                .find { |path| pids.include?(pid(path)) }
              found && new(found)
            end

            # Of the instance in that directory; nil where it has none.
            def self.pid(directory)
              File.read("#{directory}/core.pid").to_i
            rescue SystemCallError
              nil
            end

            def initialize(directory)
              @directory = directory
            end

            # Its settings by their names, as JSON has them; nil where it does not tell.
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
