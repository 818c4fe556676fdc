# frozen_string_literal: true

# Follows a topic: every new post is sent as a server-sent event, as soon as it is in the database. It asks the
# database again and again because another process may write the post.
#
# The stream ends after FORUM_LIVE seconds (30), and a browser then comes back by itself; or at the next heartbeat after
# the reader went away.
class LiveController < ApplicationController
  include ActionController::Live

  LOOK_AGAIN = 0.1 # seconds
  HEARTBEAT = 1 # seconds of silence

  def show
    topic = Topic.find(params[:id])
    response.headers["content-type"] = "text/event-stream"
    follow(topic, SSE.new(response.stream))
  rescue ActionController::Live::ClientDisconnected
    logger.info "The reader of topic #{params[:id]} went away"
  ensure
    response.stream.close
  end

  private

  def follow(topic, events)
    newest = topic.posts.maximum(:id).to_i
    events.write({ newest: newest }, event: "following")
    spoke = now
    finish = now + ENV.fetch("FORUM_LIVE", 30).to_f
    while now < finish
      posts_after(topic, newest).each do |post|
        events.write({ author: post.author, body: post.body }, event: "post", id: newest = post.id)
        spoke = now
      end
      if now - spoke > HEARTBEAT
        events.write({}, event: "heartbeat")
        spoke = now
      end
      sleep LOOK_AGAIN
    end
  end

  # The query cache would give the same answer as long as this request lasts.
  def posts_after(topic, id)
    Post.uncached { topic.posts.where("posts.id > ?", id).to_a }
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
