# frozen_string_literal: true

module Cuttle
  module Lab
    module Apps
      # Hello, world on Rails (studies/apps/hello_rails).
      class HelloRails < App
        DIRECTORY = "#{STUDIED}/hello_rails"

        def self.build
          new(name: "hello-rails", rackup: "#{DIRECTORY}/config.ru", gemfile: "#{DIRECTORY}/Gemfile",
              environment: { "RAILS_ENV" => "production" })
        end

        # Installs its gems where they are missing. Raises Lab::Failure.
        def prepare(*, **)
          run("#{EXAMPLES}/setup", name)
          super
        end
      end
    end
  end
end
