# frozen_string_literal: true

module Real
  ROOT = File.expand_path("../../..", __dir__)

  # An app and the gems it needs. gemfile: nil when it needs none but those the tests run with.
  App = Struct.new(:name, :rackup, :gemfile, :environment, keyword_init: true) do
    def directory
      File.dirname(rackup)
    end

    # Why the app can't be served here, or nil.
    def missing
      return if gemfile.nil? || File.exist?("#{gemfile}.lock")

      "#{name} has no gems yet: run examples/setup #{name}"
    end
  end

  def self.app(name, rackup, gemfile = nil, environment = {})
    App.new(name: name, rackup: "#{ROOT}/#{rackup}", gemfile: gemfile && "#{ROOT}/#{gemfile}", environment: environment)
  end

  HELLO = app("hello", "examples/hello.ru")
  BODIES = app("bodies", "test/real/bodies.ru")
  SINATRA = app("sinatra", "examples/sinatra/config.ru", "examples/sinatra/Gemfile")
  SINATRA_RACK2 = app("sinatra-rack2", "examples/sinatra/config.ru", "examples/sinatra/Gemfile.rack2")
  FORUM = app("forum", "examples/forum/config.ru", "examples/forum/Gemfile", "RAILS_ENV" => "production")
end
