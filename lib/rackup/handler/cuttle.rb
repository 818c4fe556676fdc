# frozen_string_literal: true

require "cuttle"
require "rackup/handler"

# rackup -s cuttle, rails server -u cuttle (Rack 3)
module Rackup
  module Handler
    Cuttle = ::Cuttle::Rack::Handler
    register :cuttle, Cuttle
  end
end
