# frozen_string_literal: true

require "rbconfig"

module Cuttle
  module Lab
    module Apps
      # The album page of "Puma vs. Unicorn" (studies/apps/album.ru): two queries to PostgreSQL, and photos that one
      # Node.js process renders. It shares the work app's table and its driver.
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
    end
  end
end
