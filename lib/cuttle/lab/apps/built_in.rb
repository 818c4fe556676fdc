# frozen_string_literal: true

require "open3"
require "rbconfig"

module Cuttle
  module Lab
    module Apps
      # The work app (examples/work.ru). Its environment says what each request does.
      class Work < App
        RACKUP = "#{EXAMPLES}/work.ru"

        # +profile+: parameters by name. upstream: true requests the lab's own upstream service. Raises UsageError.
        def self.build(profile)
          given = profile.transform_keys(&:to_s).reject { |name, value| name == "upstream" && value == true }
          WorkApp::Parameters.new(given)
          own = profile.keys.map(&:to_s).include?("upstream") && !given.key?("upstream")
          new(name: "work", rackup: RACKUP, profile: profile,
              services: [*("postgres" if given["query"]), *("upstream" if own)],
              environment: given.to_h { |name, value| ["WORK_#{name.upcase}", value.to_s] })
        rescue WorkApp::Invalid => error
          raise UsageError, "profile: #{error.message}"
        end

        # Raises Lab::Failure.
        def prepare(workspace, services: {}, ruby: RbConfig.ruby)
          app = super
          return app unless app.services.include?("postgres")

          app.with(environment: app.environment.merge(Driver.environment(name, ruby)))
        end
      end

      # The album page of "Puma vs. Unicorn" (studies/apps/album.ru): two queries to PostgreSQL, and photos that one
      # Node.js process renders. It shares the work app's table and driver.
      class Album < App
        RACKUP = "#{STUDIED}/album.ru"

        def self.build
          new(name: "album", rackup: RACKUP, services: %w[postgres renderer])
        end

        # Raises Lab::Failure.
        def prepare(workspace, services: {}, ruby: RbConfig.ruby)
          app = super
          app.with(environment: app.environment.merge(Driver.environment(name, ruby)))
        end
      end

      # Hello, world on Rails (studies/apps/hello_rails).
      class HelloRails < App
        DIRECTORY = "#{STUDIED}/hello_rails"

        def self.build
          new(name: "hello-rails", rackup: "#{DIRECTORY}/config.ru", gemfile: "#{DIRECTORY}/Gemfile",
              environment: { "RAILS_ENV" => "production" })
        end

        # Installs its gems if they are missing. Raises Lab::Failure.
        def prepare(*, **)
          run("#{EXAMPLES}/setup", name)
          super
        end
      end

      # The PostgreSQL driver for apps without a bundle. The pg gem is in a bundle of its own (examples/work/Gemfile)
      # and not in a server's bundle, so its directories go into RUBYLIB.
      module Driver
        GEMFILE = "#{EXAMPLES}/work/Gemfile"
        PATHS = 'puts Gem.loaded_specs.fetch("pg").full_require_paths'

        # Variables for a server of that app with that Ruby. The driver comes from its own bundle, or else from that
        # Ruby's gems. Raises Lab::Failure.
        def self.environment(app, ruby)
          [["-rbundler/setup"], ["-e", 'gem "pg"']].each do |flags|
            paths, status = Open3.capture2(Apps.clean.merge("BUNDLE_GEMFILE" => GEMFILE), ruby, *flags, "-e", PATHS,
                                           err: File::NULL)
            return { "RUBYLIB" => paths.split("\n").join(File::PATH_SEPARATOR) } if status.success?
          end
          raise Failure, "#{app}: queries need the pg gem for #{ruby}: examples/setup work, or gem install pg"
        end
      end
    end
  end
end
