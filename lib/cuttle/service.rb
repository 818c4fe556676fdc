# frozen_string_literal: true

module Cuttle
  # Handles one request, under any engine: static files, the app, the access log. Each part has call(exchange), which
  # returns whether it answered. Many threads and fibers may run this code at the same time.
  class Service
    # Builds the service. +static+, if given, gets a request first, then +app+; +log+ records each response. An app
    # alone is its own service, so nothing stands between it and the engine.
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
