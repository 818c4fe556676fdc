# frozen_string_literal: true

require_relative "../lib/population"

# A forum for a load test, as bin/mix expects it; or a few topics to look at.
if ENV["FORUM_TOPICS"]
  Population.new(Integer(ENV["FORUM_TOPICS"]), Integer(ENV.fetch("FORUM_SEED", 1))).create
else
  topics = {
    "Which engine for this forum?" => [
      ["Ada", "It reads a database and writes HTML. How many threads would you give it?"],
      ["Grace", "Measure it. Then give it as many as it waits, and no more."]
    ],
    "Threads or fibers?" => [
      ["Ada", "A thousand people follow a topic live. Is that a thousand threads?"],
      ["Jean", "With ActionController::Live it is, whatever the server does."]
    ],
    "Welcome" => [["Grace", "Say hello here."]]
  }

  topics.each do |title, posts|
    topic = Topic.create!(title: title)
    posts.each { |author, body| topic.posts.create!(author: author, body: body) }
  end
end
