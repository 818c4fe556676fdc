# frozen_string_literal: true

require "delegate"

module Cuttle
  module Rack
    # rack.errors: forwards to an IO. An env must not refer to the IO itself: an IO has no write barrier, so the garbage
    # collector would visit each env that an app keeps in every minor collection. Action Cable keeps one per WebSocket.
    Errors = DelegateClass(IO)
  end
end
