# frozen_string_literal: true

# Action Cable in one file: WebSockets at /cable, which hear what is posted to /news. Serve it with
#
#   bundle exec cuttle serve
#
# The adapter keeps messages in one process. With workers (-w), take Redis or PostgreSQL: see Rails' guide.

ENV["RAILS_ENV"] ||= "production"

require "rails"
require "action_controller/railtie"
require "action_cable/engine"

module ApplicationCable
  class Connection < ActionCable::Connection::Base
  end
end

class NewsChannel < ActionCable::Channel::Base
  def subscribed = stream_from("news")

  # What a client says, all hear.
  def tell(data) = ActionCable.server.broadcast("news", data.fetch("text"))
end

class NewsController < ActionController::API
  def hello = render(plain: "Hello, world!")

  def create
    ActionCable.server.broadcast("news", request.raw_post)
    head :no_content
  end

  # For measurements: memory is compared after a collection, not at a random moment of it.
  def settle
    GC.start
    hello
  end
end

class CableExample < Rails::Application
  config.load_defaults 7.2
  config.root = __dir__
  config.eager_load = true
  config.secret_key_base = ENV.fetch("SECRET_KEY_BASE") { SecureRandom.hex(64) }
  config.logger = Logger.new($stderr, level: Logger::WARN)
  config.active_support.isolation_level = :fiber if ENV["CABLE_ISOLATION"] == "fiber" # for fibers, and Falcon
  config.action_cable.mount_path = "/cable"
  config.action_cable.disable_request_forgery_protection = true # clients here are no browsers
  config.action_cable.cable = { "adapter" => "async" }

  routes.append do
    root to: "news#hello"
    get "settle", to: "news#settle"
    post "news", to: "news#create"
  end
end

CableExample.initialize!
run CableExample
