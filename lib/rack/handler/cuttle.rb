# frozen_string_literal: true

require "cuttle"
require "rack/handler"

# rackup -s cuttle, rails server -u cuttle (Rack 2)
module Rack
  module Handler
    Cuttle = ::Cuttle::Rack::Handler
    register :cuttle, "Rack::Handler::Cuttle"
  end
end
