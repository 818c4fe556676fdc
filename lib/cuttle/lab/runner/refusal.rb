# frozen_string_literal: true

require "uri"

module Cuttle
  module Lab
    class Runner
      # Finds out whether an app refuses all requests: the path or the mix does not fit the app. Server errors are not
      # refusals, because they may pass.
      module Refusal
        STATUSES = (400..499)

        module_function

        # Raises Failure if no request of a Load::Result was answered as it should be, and each one with such a status.
        # mix: nil if all requests are for the path of +url+.
        def check(result, url, mix: nil)
          statuses = result.statuses.keys
          return if result.good.positive? || statuses.empty? || !statuses.all?(STATUSES)

          requests = mix ? "all requests of the mix were" : "#{URI(url).request_uri} was"
          raise Failure, "#{requests} answered with status #{statuses.sort.join(", ")}"
        end
      end
    end
  end
end
