# frozen_string_literal: true

module Real
  ROOT = File.expand_path("../../..", __dir__)

  # An app, the gems it needs (gemfile: nil when none but those the tests run with), its environment, and further
  # options of `cuttle serve`.
  App = Struct.new(:name, :rackup, :gemfile, :environment, :flags, keyword_init: true) do
    def directory
      File.dirname(rackup)
    end

    # Why the app can't be served here, or nil.
    def missing
      return if gemfile.nil? || File.exist?("#{gemfile}.lock")

      "#{name} has no gems yet: run examples/setup #{name}"
    end
  end

  def self.app(name, rackup, gemfile: nil, environment: {}, flags: [])
    App.new(name: name, rackup: "#{ROOT}/#{rackup}", gemfile: gemfile && "#{ROOT}/#{gemfile}",
            environment: environment, flags: flags)
  end

  # With --keep-alive, because the single engine's default is to close.
  HELLO = app("hello", "examples/hello.ru", flags: ["--keep-alive"])
  BODIES = app("bodies", "test/real/bodies.ru")
  SINATRA = app("sinatra", "examples/sinatra/config.ru", gemfile: "examples/sinatra/Gemfile")
  SINATRA_RACK2 = app("sinatra-rack2", "examples/sinatra/config.ru", gemfile: "examples/sinatra/Gemfile.rack2")
  FORUM = app("forum", "examples/forum/config.ru", gemfile: "examples/forum/Gemfile",
                                                   environment: { "RAILS_ENV" => "production" })
  CABLE = app("cable", "examples/cable/config.ru", gemfile: "examples/cable/Gemfile",
                                                   environment: { "CABLE_ISOLATION" => "fiber" })
end
