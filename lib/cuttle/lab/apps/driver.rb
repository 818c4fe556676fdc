# frozen_string_literal: true

require "open3"

module Cuttle
  module Lab
    module Apps
      # The driver for PostgreSQL, for apps without a bundle: the pg gem is in one of its own (examples/work/Gemfile)
      # and not in any server's, so the directories to load it from go into RUBYLIB.
      module Driver
        GEMFILE = "#{EXAMPLES}/work/Gemfile"
        PATHS = 'puts Gem.loaded_specs.fetch("pg").full_require_paths'

        # Variables for a server of that app, run by that Ruby: of the driver's bundle, or else of the gems that this
        # Ruby has. Raises Lab::Failure.
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
