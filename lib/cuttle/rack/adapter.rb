# frozen_string_literal: true

module Cuttle
  module Rack
    # Runs a Rack app for a request, and sends what it returns: Rack 3 and Rack 2.2, every kind of body.
    #
    # What the app does wrong never breaks the wire: before the first octet it becomes a 500, behind it the connection
    # ends without completing the message. A worker outlives whatever an app raises.
    class Adapter
      FAILURE = [500, { "content-type" => "text/plain" }.freeze, ["Internal Server Error\n"].freeze].freeze

      def initialize(app)
        @app = app
      end

      # Answers the request of +exchange+, whose env may have been made already. Returns true.
      def call(exchange, env = exchange.env)
        status, headers, body = @app.call(env)
        leave_child if exchange.forked?
        Reply.new(exchange, env, status, headers, body).deliver unless exchange.answer(status, headers, body)
        answered = true
      rescue SignalException => error
        raise error
      rescue Exception => error # rubocop:disable Lint/RescueException
        raise if exchange.forked?

        fail_with(exchange, env, error)
        answered = true
      ensure
        exchange.abort unless answered # the thread was killed: the client must not wait for it
      end

      private

      # The app has forked, and came back here in the child: the request, the sockets and the engine are the parent's.
      def leave_child
        exit
      end

      def fail_with(exchange, env, error)
        Completion.report(env, error)
        Completion.fail(exchange)
        Completion.run(env, *FAILURE.first(2), error) if env
        exchange.dispose
      end
    end
  end
end
