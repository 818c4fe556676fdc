# frozen_string_literal: true

module Cuttle
  module Rack
    # Runs a Rack app for a request and sends its response: Rack 3 and Rack 2.2, every kind of body.
    #
    # A mistake of the app never breaks the wire. Before the first octet it becomes a 500. After the first octet the
    # connection ends without completing the message. A worker survives every exception of an app, even exit and abort.
    # Only a SignalException on the main thread passes, because with it Ruby ends the process.
    class Adapter
      FAILURE = [500, { "content-type" => "text/plain" }.freeze, ["Internal Server Error\n"].freeze].freeze

      # Whether +error+, which the app raised while it had +exchange+, belongs to the process and not to the app: a
      # signal that has no trap, or anything in a child that the app forked.
      def self.pass?(exchange, error)
        exchange.forked? || (error.is_a?(SignalException) && Thread.current.equal?(Thread.main))
      end

      # Whether +error+ says that the request of +exchange+ was already answered (app_timeout), which the watchdog has
      # reported.
      def self.too_late?(exchange, error)
        error.is_a?(IOError) && exchange.finished?
      end

      # +failure+, if given, is called with an exception of the app, the env (or nil) and 500 (with only as many of
      # these as it takes), and returns the Rack response to send instead of FAILURE.
      def initialize(app, failure = nil)
        @app = app
        @failure = failure
      end

      # Answers the request of +exchange+. The caller may have made its env already. Returns true. +ended+ is called
      # once the response is over, possibly later and in another thread. (A block would make every request slower.)
      def call(exchange, env = nil, ended = nil)
        # exchange.env raises if the request was answered while it waited for this (app_timeout).
        status, headers, body = @app.call(env ||= exchange.env)
        unless exchange.answer(status, headers, body) # always false in a forked child
          leave_child if exchange.forked?
          reply = Reply.new(exchange, env, status, headers, body, ended)
          reply.deliver
          leave_child if exchange.forked?
        end
        answered = true
      rescue Exception => error # rubocop:disable Lint/RescueException
        raise if Adapter.pass?(exchange, error)

        fail_with(exchange, env, error, (body unless reply)) # which closes it itself
        answered = true
      ensure
        exchange.abort unless answered # the thread was killed: the client must not wait for it
        ended.call if ended && !exchange.forked? && !(answered && reply&.streaming?)
      end

      private

      # The app has forked, and the child has returned here. The request, the sockets and the engine belong to the
      # parent. exit unwinds the engine's stack, whose ensure blocks see that they run in a child. Ruby's at_exit blocks
      # follow.
      def leave_child
        exit
      end

      def fail_with(exchange, env, error, body)
        Completion.report(env, error) unless env.nil? && Adapter.too_late?(exchange, error)
        status, headers, = response = failure(exchange, env, error)
        Completion.fail(exchange, response)
        Completion.close(exchange, env, body)
        Completion.run(exchange, env, status, headers, error) if env
        exchange.dispose
      end

      def failure(exchange, env, error)
        return FAILURE unless @failure && !exchange.responded?

        arguments = [error, env, FAILURE.first]
        arguments = arguments.first(@failure.arity) if @failure.arity.positive?
        status, headers, body = @failure.call(*arguments)
        [status, headers, parts(exchange, env, body)]
      rescue Exception => error # rubocop:disable Lint/RescueException -- as of the app
        raise if Adapter.pass?(exchange, error)

        Completion.report(env, error)
        FAILURE
      end

      def parts(exchange, env, body)
        [].tap { |parts| body.each { |part| parts << part } }
      ensure
        Completion.close(exchange, env, body)
      end
    end
  end
end
