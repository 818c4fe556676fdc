# frozen_string_literal: true

require "open3"

module Cuttle
  module Lab
    module Apps
      # The work app (examples/work.ru), told by its environment what to do for each request. With queries it needs the
      # pg gem, which is in a bundle of its own (examples/work/Gemfile) and not in any server's: the directories to load
      # it from go into RUBYLIB.
      class Work < App
        RACKUP = "#{EXAMPLES}/work.ru"
        GEMFILE = "#{EXAMPLES}/work/Gemfile"
        DRIVER = 'puts Gem.loaded_specs.fetch("pg").full_require_paths'

        # +profile+: parameters by name; upstream: true for the lab's own. Raises UsageError.
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
          app.services.include?("postgres") ? app.with(environment: app.environment.merge(driver(ruby))) : app
        end

        private

        # Of its own bundle, or else of the gems that this Ruby has.
        def driver(ruby)
          [["-rbundler/setup"], ["-e", 'gem "pg"']].each do |flags|
            paths, status = Open3.capture2(Apps.clean.merge("BUNDLE_GEMFILE" => GEMFILE), ruby, *flags, "-e", DRIVER,
                                           err: File::NULL)
            return { "RUBYLIB" => paths.split("\n").join(File::PATH_SEPARATOR) } if status.success?
          end
          raise Failure, "work: queries need the pg gem for #{ruby}: examples/setup work, or gem install pg"
        end
      end
    end
  end
end
