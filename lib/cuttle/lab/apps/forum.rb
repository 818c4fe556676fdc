# frozen_string_literal: true

module Cuttle
  module Lab
    module Apps
      # The Rails forum (examples/forum) with a thousand topics in it, the same ones for the same seed, and requests for
      # them: the latest topics, a topic, a reply, a new topic, each as often as the others.
      class Forum < App
        DIRECTORY = "#{EXAMPLES}/forum"
        TOPICS = 1000

        def self.build(name, services)
          new(name: name, rackup: "#{DIRECTORY}/config.ru", gemfile: "#{DIRECTORY}/Gemfile", services: services,
              environment: { "RAILS_ENV" => "production", "RAILS_LOG_LEVEL" => "warn" })
        end

        # Installs its gems where they are missing, makes and fills its database, and writes the requests; a minute or
        # more the first time.
        def prepare(workspace, services: {}, seed: 1, topics: TOPICS, **)
          storage = File.join(workspace, "forum")
          mix = File.join(workspace, "forum.jsonl")
          app = super(workspace, services: services)
          app = app.with(mix: mix, environment: app.environment.merge("FORUM_STORAGE" => storage))
          app.fill("FORUM_TOPICS" => topics.to_s, "FORUM_SEED" => seed.to_s)
          app
        end

        def fill(population)
          run("#{EXAMPLES}/setup", "forum")
          run("bin/setup", environment: environment.merge(population))
          run("bin/mix", environment: environment.merge(population), output: mix)
        end
      end
    end
  end
end
