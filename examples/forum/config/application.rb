# frozen_string_literal: true

require_relative "boot"

require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"
require "cuttle" # as Bundler.require does in most apps: `bin/rails server` takes it then
require_relative "../lib/patient_sqlite"

module Forum
  # What is kept per request belongs to a fiber where a fiber answers each request, or two requests would share it.
  ISOLATION = ENV.fetch("FORUM_ISOLATION") { ENV["CUTTLE_ENGINE"] == "fibers" ? "fiber" : "thread" }.to_sym

  # Topics and posts on SQLite or PostgreSQL: small, but a real Rails app.
  class Application < Rails::Application
    config.load_defaults 7.2

    config.active_support.isolation_level = ISOLATION

    # Whatever the forum writes lies below one directory: the database and the attachments.
    config.x.storage = Pathname(ENV.fetch("FORUM_STORAGE", root.join("storage").to_s))

    # bin/setup makes the key; all workers and all restarts share it, and with it the sessions.
    config.secret_key_base = ENV.fetch("SECRET_KEY_BASE") do
      file = config.x.storage.join("secret")
      file.exist? ? file.read : abort("Run bin/setup first: there is no #{file}, nor SECRET_KEY_BASE.")
    end

    config.log_level = ENV.fetch("RAILS_LOG_LEVEL", "info")
    config.generators.system_tests = nil
  end
end
