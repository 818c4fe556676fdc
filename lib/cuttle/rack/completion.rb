# frozen_string_literal: true

module Cuttle
  module Rack
    # The end of a response: callbacks, and a report to the error stream if something failed.
    module Completion
      class << self
        # Calls the callbacks that the app left in the env: rack.response_finished, in reverse order (Rack SPEC), and
        # rack.after_reply (Puma's), which takes no arguments. A callback that fails stops neither the others nor the
        # engine.
        def run(exchange, env, status, headers, error)
          each(exchange, env, "rack.response_finished", :reverse_each) do |callback|
            callback.call(env, status, headers, error)
          end
          each(exchange, env, "rack.after_reply", :each, &:call)
        end

        # Sends +response+ and returns true, or aborts the connection if a response has begun. The request may have been
        # answered just now because it was stuck (app_timeout). A 500 takes the place of a response that is not valid.
        def fail(exchange, response)
          return exchange.abort if exchange.responded?

          exchange.respond(*response)
          true
        rescue InvalidResponse => error
          report(nil, error)
          fail(exchange, Adapter::FAILURE)
        rescue IOError
          exchange.abort
        end

        # Closes the app's +body+ if it can be closed. Call it once for each body.
        def close(exchange, env, body)
          attempt(exchange, env) { body.close if body.respond_to?(:close) }
        end

        # Writes the app's exception to rack.errors (to $stderr if the app has broken that), or says what ractors may
        # not do. A client that disconnected is no error of the app.
        def report(env, error)
          return if error.is_a?(Disconnected)

          line = RactorCheck.explain(error)
          return Obstacles.tell(line) if line

          stream = env&.fetch("rack.errors", nil) || $stderr
          stream.write("#{error.full_message(highlight: false, order: :top).chomp}\n")
          stream.flush
        rescue Exception # rubocop:disable Lint/RescueException -- the error's and the stream's code may be the app's
          report(nil, error) if env
        end

        private

        # Yields the callbacks of a list. One that the app has made may fail too. (Not by [], because an app may give
        # its env a default_proc.)
        def each(exchange, env, name, order)
          attempt(exchange, env) do
            callbacks = env.fetch(name, nil)
            next unless callbacks.respond_to?(order)

            callbacks.public_send(order) { |callback| attempt(exchange, env) { yield callback } }
          end
        end

        def attempt(exchange, env)
          yield
        rescue Exception => error # rubocop:disable Lint/RescueException -- an engine outlives whatever an app raises
          raise if Adapter.pass?(exchange, error)

          report(env, error)
        end
      end
    end
  end
end
