# frozen_string_literal: true

require_relative "babble"

# Fills an empty forum with topics for a load test: the same ones, with the same ids and times, for the same seed.
class Population
  POSTS = (1..40) # in a topic
  LENGTH = (100..2000) # characters of a post
  BEGIN_AT = Time.utc(2026, 1, 1)
  PORTION = 50 # topics that are written at once

  def initialize(topics, seed)
    @topics = topics
    @babble = Babble.new(seed)
    @authors = Array.new(100) { @babble.name }
  end

  def create
    (1..@topics).each_slice(PORTION) do |ids|
      posts = ids.flat_map { |id| posts_of(id) }
      Topic.insert_all!(ids.map { |id| topic(id, posts) })
      Post.insert_all!(posts)
    end
    finish if Topic.connection.adapter_name == "PostgreSQL"
  end

  private

  # A minute a post, so that the last topics are the latest.
  def posts_of(id)
    Array.new(@babble.number(POSTS)) do |number|
      written = BEGIN_AT + id * 3600 + number * 60
      { topic_id: id, author: @babble.pick(@authors), body: @babble.text(LENGTH),
        created_at: written, updated_at: written }
    end
  end

  def topic(id, posts)
    times = posts.filter_map { |post| post[:created_at] if post[:topic_id] == id }
    { id: id, title: @babble.title, posts_count: times.size, last_post_at: times.last,
      created_at: times.first, updated_at: times.last }
  end

  # The ids that were given are not asked for again, and the planner knows what there is.
  def finish
    Topic.connection.reset_pk_sequence!("topics")
    Topic.connection.execute("ANALYZE")
  end
end
