# frozen_string_literal: true

module Cuttle
  class Settings
    # What holds where nobody said anything. A Proc looks at the settings resolved before it.
    module Defaults
      # Engines that run the app on one thread.
      ONE_THREAD = %w[single reactor fibers].freeze

      TABLE = {
        engine: "hybrid",
        parser: "native",
        workers: 0,
        threads: ->(settings) { ONE_THREAD.include?(settings.engine) ? 1..1 : 3..3 },
        max_fibers: 1024,
        environment: "development",
        port: 9292,
        binds: ->(settings) { ["tcp://#{host(settings)}:#{settings.port}"] },
        docroot: ->(settings) { settings.path if settings.path && File.directory?(settings.path) },
        # A blocking process that keeps a connection open serves nobody else meanwhile.
        keep_alive: ->(settings) { settings.engine != "single" },
        log_requests: false,
        quiet: false,
        debug: false,
        request_timeout: 30,
        idle_timeout: 65,
        write_timeout: 30,
        # Below the 30 seconds that Kubernetes and Heroku give before they kill.
        shutdown_timeout: 25
      }.freeze

      def self.fetch(name, settings)
        default = TABLE[name]
        default.is_a?(Proc) ? default.call(settings) : default
      end

      # As rackup: only this machine while developing, every interface elsewhere.
      def self.host(settings)
        %w[development test].include?(settings.environment) ? "127.0.0.1" : "0.0.0.0"
      end
    end
  end
end
