# frozen_string_literal: true

require "rbconfig"

module Cuttle
  module Lab
    module Apps
      # The work app (examples/work.ru), told by its environment what to do for each request.
      class Work < App
        RACKUP = "#{EXAMPLES}/work.ru"

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
          return app unless app.services.include?("postgres")

          app.with(environment: app.environment.merge(Driver.environment(name, ruby)))
        end
      end
    end
  end
end
