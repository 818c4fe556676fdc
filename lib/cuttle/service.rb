# frozen_string_literal: true

module Cuttle
  # Handles one request, under any engine: static files, the app, the access log. Each part has call(exchange), which
  # returns whether it answered. Many threads and fibers may run this code at the same time.
  class Service
    # The parts that a service is made from: the Rack +app+, the +docroot+ of static files or nil, whether no app
    # follows them (+final+), the options of an access log or nil (+log+), the core, and the handler for an app that
    # raises, or nil (+failure+). Each ractor builds its own service, because a service has open files.
    Recipe = Struct.new(:app, :docroot, :final, :log, :core, :failure) do
      def build
        Service.build(app: Rack::Adapter.new(app, failure), static: static, log: access_log)
      end

      # Loads all code that a service may use.
      def preload
        [Telemetry::AccessLog, Telemetry::LogFormat, Telemetry::Outlet, Telemetry::Output, Static, Rack::Adapter,
         Rack::Completion, Rack::ContentTypes, Rack::Input, Rack::RactorCheck, Rack::Reply, Rack::Stream].each(&:name)
      end

      # Gives the lines of the log that still wait for its reader a moment to be written. Call it in the process (the
      # ractor) that served, at the end.
      def flush
        Telemetry::Output.flush if log
      end

      # A recipe that ractors may share, once the app has shown that it runs in one. Raises UsageError.
      def share
        shared = dup
        shared.app = Rack::Sharing.call(app)
        Rack::RactorCheck.call(shared.app)
        Rack::Obstacles.listen
        Ractor.make_shareable(shared)
      end

      private

      def access_log
        Telemetry::AccessLog.new($stdout, **log) if log
      end

      def static
        docroot && Static.new(docroot, beneath: core::Beneath, content_types: Rack::ContentTypes, final: final)
      end
    end

    # Builds the service. +static+, if given, gets a request first, then +app+; +log+ records each response. Without
    # both, the app itself is the service, so nothing stands between it and the engine.
    def self.build(app:, static: nil, log: nil)
      static || log ? new(app, static, log) : app
    end

    def initialize(app, static, log)
      @app = app
      @static = static
      @log = log
    end

    # Answers the request of +exchange+.
    def call(exchange)
      @log ? logged(exchange) : @static.call(exchange) || @app.call(exchange)
      exchange.dispose
    rescue IOError
      raise unless exchange.finished? # it was answered before any part had begun (app_timeout)

      exchange.dispose
    end

    private

    # Writes one line for each exchange once it is over, however it ends. With a stream that is later, and the app's
    # adapter calls the proc then. The line of the request is made first, before the app can change the env.
    def logged(exchange)
      env = exchange.env
      exchange.keep_record
      request = @log.request(env)
      passed_on = false
      return if @static&.call(exchange)

      passed_on = true
      @app.call(exchange, env, -> { @log.record(request, env, exchange) })
    ensure
      @log.record(request, env, exchange) if request && !passed_on
    end
  end
end
