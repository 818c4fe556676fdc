# frozen_string_literal: true

require "delegate"
require "rack"

module Cuttle
  # Everything that knows Rack. No other Ruby room names Rack.
  module Rack
    autoload :Adapter, "cuttle/rack/adapter"
    autoload :Completion, "cuttle/rack/completion"
    autoload :ContentTypes, "cuttle/rack/content_types"
    autoload :GemChecks, "cuttle/rack/gem_checks"
    autoload :Handler, "cuttle/rack/handler"
    autoload :Input, "cuttle/rack/input"
    autoload :Loader, "cuttle/rack/loader"
    autoload :Obstacles, "cuttle/rack/obstacles"
    autoload :RactorCheck, "cuttle/rack/ractor_check"
    autoload :Reply, "cuttle/rack/reply"
    autoload :Sharing, "cuttle/rack/sharing"
    autoload :Stream, "cuttle/rack/stream"

    # rack.errors: forwards to an IO. An env must not refer to the IO itself: an IO has no write barrier, so the garbage
    # collector would visit each env that an app keeps in every minor collection. Action Cable keeps one per WebSocket.
    Errors = DelegateClass(IO)

    # Every request's env starts as a copy of this; all share its values. +multithread+ and +multiprocess+: whether the
    # app may be called, in this process or in another, while it still answers a request.
    def self.env(multithread:, multiprocess:)
      {
        "SCRIPT_NAME" => "", "SERVER_SOFTWARE" => -"cuttle/#{VERSION}", "GATEWAY_INTERFACE" => "CGI/1.1",
        "rack.version" => [1, 3].freeze, # Rack 2.2 requires it
        "rack.input" => Input::NONE, "rack.errors" => Errors.new($stderr), "rack.url_scheme" => "http",
        "rack.hijack?" => true, "rack.run_once" => false,
        "rack.multithread" => multithread, "rack.multiprocess" => multiprocess
      }
    end
  end
end
