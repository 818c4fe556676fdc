# frozen_string_literal: true

module Cuttle
  module Lab
    # The apps that a lab can serve: Cuttle's own by name, any other by the path of a rackup file or of a directory with
    # a config.ru. Finding an App does nothing yet; #prepare makes it ready to be served.
    #
    #   app = Apps.find("work", profile: { cpu_ms: 5, iowait_ms: 20 })
    #   services = app.services.to_h { |name| [name, Apps::Services.find(name).start] }
    #   app = app.prepare(directory, services: services)
    #   app.rackup, app.environment, app.mix      # to serve it and to load it
    module Apps
      autoload :Album, "cuttle/lab/apps/built_in"
      autoload :App, "cuttle/lab/apps/app"
      autoload :Driver, "cuttle/lab/apps/built_in"
      autoload :Forum, "cuttle/lab/apps/forum"
      autoload :HelloRails, "cuttle/lab/apps/built_in"
      autoload :Services, "cuttle/lab/apps/services"
      autoload :Work, "cuttle/lab/apps/built_in"

      ROOT = File.expand_path("../../..", __dir__)
      EXAMPLES = "#{ROOT}/examples"
      STUDIED = "#{ROOT}/studies/apps"
      CONNECTIONS = "connections"

      # Name => description.
      NAMES = {
        "work" => "computes and waits as long as each request specifies",
        "hello" => "answers Hello, world!",
        "hello-rails" => "the same, on Rails",
        "forum" => "a Rails forum on PostgreSQL, with the four actions of Rails Ruby Bench",
        "forum-sqlite" => "the forum on SQLite",
        "album" => "a page of two queries and a part that one Node.js process renders"
      }.freeze

      module_function

      # The App with that name or path; an App is returned as it is. profile: parameters of the work app. For any app on
      # PostgreSQL, "connections" is PostgreSQL's limit of connections. Raises UsageError.
      def find(name, profile: {})
        return name if name.is_a?(App)

        profile = profile.transform_keys(&:to_s)
        app = named(name, profile.except(CONNECTIONS))
        profile.key?(CONNECTIONS) ? app.limited_to(profile[CONNECTIONS]) : app
      end

      def named(name, profile)
        raise UsageError, "a profile (#{profile.keys.join(", ")}) is for the work app" if profile.any? && name != "work"

        case name
        when "work" then Work.build(profile)
        when "hello" then App.new(name: name, rackup: "#{EXAMPLES}/hello.ru")
        when "hello-rails" then HelloRails.build
        when "forum" then Forum.build(name, %w[postgres])
        when "forum-sqlite" then Forum.build(name, [])
        when "album" then Album.build
        else at(name)
        end
      end

      # Variables that restore the environment from before Cuttle's bundle was loaded.
      def clean
        return {} unless defined?(Bundler)

        plain = Bundler.unbundled_env
        ENV.reject { |name, value| plain[name] == value }.to_h { |name, _| [name, plain[name]] }
      end

      # The App at a path. Its name, "directory/config.ru", is never the name of a built-in app.
      def at(path)
        rackup = File.expand_path(File.directory?(path) ? "#{path}/config.ru" : path)
        names = NAMES.keys.join(", ")
        raise UsageError, "no app #{path}: neither a rackup file nor one of #{names}" unless File.file?(rackup)

        directory = File.dirname(rackup)
        gemfile = "#{directory}/Gemfile"
        App.new(name: "#{File.basename(directory)}/#{File.basename(rackup)}", rackup: rackup, directory: directory,
                gemfile: (gemfile if File.file?(gemfile)))
      end
    end
  end
end
