# frozen_string_literal: true

require_relative "real"
require "tmpdir"

# Rails' own reloading in development: each worker answers with the new code at its next request.
class ReloadingTest < Minitest::Test
  include Eventually

  RACKUP = <<~RUBY
    require "rails"
    require "action_controller/railtie"
    class ReloadingApp < Rails::Application
      config.root = __dir__
      config.eager_load = false
      config.enable_reloading = true
      config.secret_key_base = "0" * 64
      config.logger = Logger.new(File::NULL)
      config.active_support.isolation_level = :fiber if ENV["CUTTLE_ENGINE"] == "fibers"
    end
    ReloadingApp.initialize!
    run Rails.application
  RUBY

  def test_each_worker_has_the_new_code
    skip Real::FORUM.missing if Real::FORUM.missing
    %w[hybrid fibers].each do |engine|
      serve(Real::Way.new(engine, 2)) do |server, directory|
        eventually("an answer of both workers") { answers(server).last.length == 2 }
        assert_equal ["one"], answers(server).first
        write(directory, "another")
        eventually("the new code in both workers") { answers(server).first == ["another"] }
      end
    end
  end

  private

  def serve(way)
    Dir.mktmpdir do |directory|
      write(directory, "one")
      app = Real::App.new(name: "reloading", rackup: "#{directory}/config.ru", gemfile: Real::FORUM.gemfile,
                          environment: { "RAILS_ENV" => "development" }, flags: [])
      server = Real::Server.new(app, way).wait_until_ready
      yield server, directory
    ensure
      server&.kill
    end
  end

  def write(directory, word)
    FileUtils.mkdir_p(["#{directory}/config", "#{directory}/app/controllers"])
    File.write("#{directory}/config.ru", RACKUP)
    File.write("#{directory}/config/routes.rb", 'Rails.application.routes.draw { root "words#show" }')
    File.write("#{directory}/app/controllers/words_controller.rb", <<~RUBY)
      class WordsController < ActionController::Base
        def show = render(plain: "#{word} \#{Process.pid}")
      end
    RUBY
  end

  # What twelve connections get: the words, and the workers.
  def answers(server)
    Array.new(12) { Net::HTTP.get(URI("#{server.url}/")).split }.transpose.map(&:uniq)
  end
end
