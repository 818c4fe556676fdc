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

      # Answers the request that +connection+ holds, whose env may have been made already. Returns true.
      def call(connection, env = connection.env)
        status, headers, body = @app.call(env)
        Reply.new(connection, env, status, headers, body).deliver unless connection.answer(status, headers, body)
        answered = true
      rescue SignalException => error
        raise error
      rescue Exception => error # rubocop:disable Lint/RescueException
        fail_with(connection, env, status, headers, error)
        answered = true
      ensure
        connection.abort unless answered # the thread was killed: the client must not wait for it
      end

      private

      def fail_with(connection, env, status, headers, error)
        Completion.report(env, error)
        connection.responded? ? connection.abort : connection.respond(*FAILURE)
        Completion.run(env["rack.response_finished"], env, status, headers, error) if env
      end
    end
  end
end
