# frozen_string_literal: true

# Hello, world on Rails: one route, one controller, and all of the middleware that Rails has by default. It logs
# nothing, for a disk is none of the servers' affair, and tells its length, without which Thin would close each
# connection.

ENV["BUNDLE_GEMFILE"] ||= File.expand_path("Gemfile", __dir__)

require "bundler/setup"
require "rails"
require "action_controller/railtie"

# The app.
class Hello < Rails::Application
  config.load_defaults 7.2
  config.eager_load = true
  config.enable_reloading = false # the default looks after all files at each request
  config.cache_store = :null_store
  config.logger = ActiveSupport::Logger.new(File::NULL)
  config.log_level = :fatal
  config.secret_key_base = "it signs nothing " * 4
  routes.append { root to: "hello#index" }
end

# Its page.
class HelloController < ActionController::Base
  def index
    render plain: "Hello, world!\n"
  end
end

Hello.initialize!

use Rack::ContentLength
run Hello
