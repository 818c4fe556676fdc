# frozen_string_literal: true

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
