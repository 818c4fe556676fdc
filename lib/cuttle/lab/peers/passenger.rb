# frozen_string_literal: true

module Cuttle
  module Lab
    module Peers
      # Debian's. The processes that run the app are its grandchildren, which tell by their titles what they are.
      # It caches responses that say they may be kept, which would be its lead over all others: turned off, but in the
      # variant that is about that. (Its option for the backlog ends Debian's in a crash.)
      class Passenger < Peer
        autoload :Core, "cuttle/lab/peers/passenger/core"

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
      end
    end
  end
end
