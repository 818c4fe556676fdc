# frozen_string_literal: true

module Cuttle
  module Rack
    # What follows a response: callbacks, and a word to the error stream when it went wrong.
    module Completion
      class << self
        # Calls what the app left in rack.response_finished, the last first (Rack SPEC); no callback stops the others.
        def run(callbacks, env, status, headers, error)
          return unless callbacks.respond_to?(:reverse_each)

          callbacks.reverse_each do |callback|
            callback.call(env, status, headers, error)
          rescue StandardError => failure
            report(env, failure)
          end
        end

        # Writes an app's exception to rack.errors. A client that went away is no error of the app's.
        def report(env, error)
          return if error.is_a?(Disconnected)

          stream = env && env["rack.errors"] || $stderr
          stream.write("#{error.full_message(highlight: false, order: :top).chomp}\n")
          stream.flush
        rescue StandardError
          nil # there is nobody left to tell
        end
      end
    end
  end
end
