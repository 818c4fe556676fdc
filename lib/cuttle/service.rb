# frozen_string_literal: true

module Cuttle
  # What happens to one request, whichever engine runs it: static files, the app, the access log. Each part answers by
  # call(exchange) and returns whether it did. Many threads and fibers may be in here at once.
  class Service
    # What answers requests: +static+ is asked first where there is one, then +app+; +log+ is told of each response.
    # An app alone is its own service: nothing stands between it and the engine.
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

    # One line for each exchange once it is over, whatever ends it; under a stream that is later. The app's adapter calls
    # the proc then. What the client has asked is noted before the app can change it.
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
