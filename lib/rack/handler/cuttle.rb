# frozen_string_literal: true

require "cuttle"
require "rack/handler"

# rackup -s cuttle, rails server -u cuttle (Rack 2)
module Rack
  module Handler
    Cuttle = ::Cuttle::Rack::Handler
    register :cuttle, Cuttle
  end
end
