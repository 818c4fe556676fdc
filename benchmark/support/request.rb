# frozen_string_literal: true

module Bench
  # A trial whose load sends a request of its own. The lab's check of the answer remains a GET without further headers.
  class Request < Lab::Runner::Trial
    # request: method, headers and body, as in Cuttle::Load.
    def initialize(request, **parts)
      super(**parts)
      @request = request
    end

    private

    def prepare(configuration, route)
      super
      @options = { **@options, **@request }
    end
  end
end
