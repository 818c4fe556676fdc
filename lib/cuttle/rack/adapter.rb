# frozen_string_literal: true

module Cuttle
  module Rack
    # Runs a Rack app for a request, and sends what it returns: Rack 3 and Rack 2.2, every kind of body.
    #
    # What the app does wrong never breaks the wire: before the first octet it becomes a 500, behind it the connection
    # ends without completing the message. A worker outlives whatever an app raises, exit and abort among them. Only a
    # SignalException on the main thread passes, for there it is Ruby's own word that the process is to end.
    class Adapter
      FAILURE = [500, { "content-type" => "text/plain" }.freeze, ["Internal Server Error\n"].freeze].freeze

      # Whether +error+, which came out of an app while it had +exchange+, is the process's and not the app's: a signal
      # that nobody has trapped, or anything in a child that the app has forked.
      def self.pass?(exchange, error)
        exchange.forked? || (error.is_a?(SignalException) && Thread.current.equal?(Thread.main))
      end

      def initialize(app)
        @app = app
      end

      # Answers the request of +exchange+, whose env may have been made already. Returns true. +ended+ is called once the
      # response is over, which may be later and in another thread. (A block would cost every request more.)
      def call(exchange, env = exchange.env, ended = nil)
        status, headers, body = @app.call(env)
        unless exchange.answer(status, headers, body) # which a forked child never does
          leave_child if exchange.forked?
          reply = Reply.new(exchange, env, status, headers, body, ended)
          reply.deliver
          leave_child if exchange.forked?
        end
        answered = true
      rescue Exception => error # rubocop:disable Lint/RescueException
        raise if Adapter.pass?(exchange, error)

        fail_with(exchange, env, error)
        answered = true
      ensure
        exchange.abort unless answered # the thread was killed: the client must not wait for it
        ended.call if ended && !exchange.forked? && !(answered && reply&.streaming?)
      end

      private

      # The app has forked, and came back here in the child: the request, the sockets and the engine are the parent's.
      # This unwinds the engine's stack, whose ends find that they are in a child; Ruby's own (at_exit) follow.
      def leave_child
        exit
      end

      def fail_with(exchange, env, error)
        Completion.report(env, error)
        Completion.fail(exchange)
        Completion.run(exchange, env, *FAILURE.first(2), error) if env
        exchange.dispose
      end
    end
  end
end
