# frozen_string_literal: true

module Cuttle
  module Lab
    module Peers
      # Debian's. The processes that run the app are its grandchildren, which tell by their titles what they are.
      # It caches responses that say they may be kept, which would be its lead over all others: turned off. (Its option
      # for the backlog ends Debian's in a crash.)
      class Passenger < Peer
        def package = "passenger"
        def workers = ANY
        def worker_title = /\APassenger RubyApp/

        def arguments(setup)
          [executable, "start", "-e", "production", "-a", "127.0.0.1", "-p", setup.port.to_s, "--engine=builtin",
           "--min-instances", setup.workers.to_s, "--max-pool-size", setup.workers.to_s,
           "--log-file", "#{setup.log}.passenger", "--pid-file", "#{setup.log}.pid",
           "--disable-turbocaching", "--disable-security-update-check", "--preload-bundler", "-R", setup.app]
        end
      end
    end
  end
end
