# frozen_string_literal: true

require "fileutils"

module Cuttle
  module Lab
    module Apps
      # The Rails forum (examples/forum) with a thousand topics. The same seed gives the same topics. The requests for
      # them are equally frequent: the latest topics, a topic, a reply, a new topic.
      class Forum < App
        DIRECTORY = "#{EXAMPLES}/forum"
        TOPICS = 1000
        DATABASE = "forum"

        def self.build(name, services)
          new(name: name, rackup: "#{DIRECTORY}/config.ru", gemfile: "#{DIRECTORY}/Gemfile", services: services,
              environment: { "RAILS_ENV" => "production", "RAILS_LOG_LEVEL" => "warn" })
        end

        # Installs its gems if they are missing, creates and fills its database, and writes the requests. The first time
        # takes a minute or more.
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

        # Gives each start a copy of the filled database, without the posts of earlier starts.
        def reset(services)
          services.key?("postgres") ? services["postgres"].restore(DATABASE) : restore_file
        end

        # Rails needs this information at its start.
        def environment_for(fibers:)
          fibers ? environment.merge("FORUM_ISOLATION" => "fiber") : environment
        end

        private

        # SQLite's log is beside the file and belongs to it.
        def restore_file
          storage = environment.fetch("FORUM_STORAGE")
          filled = "#{storage}/filled"
          files = "production.sqlite3{,-wal}"
          unless File.directory?(filled)
            FileUtils.mkdir(filled)
            return FileUtils.cp(Dir["#{storage}/#{files}"], filled)
          end
          FileUtils.rm_f(Dir["#{storage}/production.sqlite3*"])
          FileUtils.cp(Dir["#{filled}/#{files}"], storage)
        end
      end
    end
  end
end
