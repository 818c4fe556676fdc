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
      env = exchange.env if @log
      (@static && @static.call(exchange)) || (env ? @app.call(exchange, env) : @app.call(exchange))
      @log&.record(env, exchange)
      exchange.dispose
    end
  end
end
