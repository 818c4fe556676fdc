# frozen_string_literal: true

require "securerandom"
require_relative "real"
require_relative "support/forum_storage"

# What a visitor of the forum does.
module ForumVisits
  def reply(topic, text, more = {})
    fields = { "authenticity_token" => form_token(get("/topics/#{topic}")),
               "post[author]" => "Tim", "post[body]" => text }
    post_multipart("/topics/#{topic}/posts", fields.merge(more))
  end

  def posts_in(topic)
    get("/topics/#{topic}").body.scan("<article").size
  end
end

class ForumBrowser < Real::Browser
  include ForumVisits
end

# The Rails app, on every engine alone and forked.
module ForumChecks
  include ForumVisits

  def test_the_latest_topics_are_listed
    page = get("/")
    assert_equal "200", page.code
    assert_match(/\Atext\/html\b/, page["content-type"])
    assert_includes page.body, "Threads or fibers?"
  end

  def test_a_topic_is_read
    page = get("/topics/1")
    assert_includes page.body, "Which engine for this forum?"
    assert_includes page.body, "Measure it."
  end

  def test_a_topic_is_posted_and_heads_the_list
    title = "A topic of #{SecureRandom.hex(4)}"
    token = form_token(get("/topics/new"))
    answer = post("/topics", "authenticity_token" => token, "topic[title]" => title, "post[author]" => "Tim",
                             "post[body]" => "Grüße & <b>more</b>")
    assert_equal "302", answer.code, answer.body
    assert_includes get(URI(answer["location"]).path).body, "Grüße &amp; &lt;b&gt;more&lt;/b&gt;".b
    assert_includes get("/").body, title
  end

  def test_a_topic_without_an_author_is_shown_again_with_what_is_wrong
    token = form_token(get("/topics/new"))
    fields = { "topic[title]" => "T", "post[author]" => "", "post[body]" => "x" }
    answer = post("/topics", fields.merge("authenticity_token" => token))
    assert_equal "422", answer.code
    assert_includes answer.body, "Author can&#39;t be blank"
  end

  def test_an_attachment_comes_back_as_it_was
    content = Random.bytes(1_500_000)
    answer = reply(3, "the file", "post[upload]" => [content, "any.bin", "application/x-thing"])
    path = get(URI(answer["location"]).path).body.scan(%r{/attachments/\d+}).last
    file = get(path)
    assert_equal content, file.body
    assert_equal ["application/x-thing", content.bytesize.to_s], [file["content-type"], file["content-length"]]
    assert_match(/\Aattachment; filename="any.bin"/, file["content-disposition"])
  end

  def test_a_forged_post_is_refused
    get("/topics/2")
    answer = post("/topics/2/posts", "authenticity_token" => "forged", "post[author]" => "M", "post[body]" => "x")
    assert_equal "422", answer.code
    assert_includes answer.body, "did not accept"
  end

  def test_what_is_not_there_is_not_found
    assert_equal %w[404 404 404], ["/nowhere", "/topics/0", "/attachments/0"].map { |path| get(path).code }
  end

  def test_many_replies_at_once_are_all_kept
    before = posts_in(2)
    visitors = Array.new(4) do |number|
      Thread.new { Array.new(3) { |turn| ForumBrowser.new(server).reply(2, "#{number}.#{turn}").code } }
    end
    assert_equal ["302"] * 12, visitors.flat_map(&:value)
    assert_equal before + 12, posts_in(2)
  end

  # The post is made only after the stream has begun to arrive, and the stream never ends: a server that holds pieces
  # back shows nothing.
  def test_a_topic_is_followed_live
    text = "live #{SecureRandom.hex(4)}"
    events = follow(3) { post_elsewhere(3, text) }
    assert_match(/\Aevent: following\n/, events)
    assert_match(/^event: post\nid: \d+\ndata: \{.*#{text}"\}\n\n/, events)
    server.wait_for("let the app know that its reader left") { server.log.include?("reader of topic 3 went away") }
  end

  private

  # Reads the events up to the first post, and leaves. Yields when it has the first event.
  def follow(topic)
    events = +""
    connect do |http|
      http.request_get("/topics/#{topic}/live") do |response|
        response.read_body do |piece|
          yield if !events.include?("\n\n") && (events + piece).include?("\n\n")
          events << piece
          return events if events.match?(/event: post\n.*\n\n/m)
        end
      end
    end
    flunk "the stream ended with #{events.inspect}"
  end

  # By a second request, or, where the engine can't answer one, from another process.
  def post_elsewhere(topic, text)
    return ForumBrowser.new(server).reply(topic, text) if way.concurrent?

    self.class.storage.command("bin/rails", "runner", <<~RUBY)
      Topic.find(#{topic}).posts.create!(author: "Ada", body: "#{text}")
    RUBY
  end
end

class ForumTest < Real::ServedTest
  class << self
    # The database and the files of this one server, from a copy of what bin/setup makes.
    def storage
      @storage ||= Real::ForumStorage.new
    end

    # A stream may have to last until another process has started Rails.
    def environment
      { "FORUM_STORAGE" => storage.path, "FORUM_LIVE" => "240" }
    end

    def finish
      super
    ensure
      @storage&.remove
    end
  end

  for_each Real::WAYS, Real::FORUM, ForumChecks
end
