# frozen_string_literal: true

require "json"
require "uri"
require_relative "babble"

# What visitors ask of the forum, as lines for `cuttle load --mix`. All four actions weigh the same. Topics are read and
# answered among the latest as they were when this was made, so that the same work is asked for however long it lasts:
# a page of a topic has so many posts at most, and new topics are not read.
class RequestMix
  TOPICS = 10
  TEXTS = 20 # different replies, and different new topics
  FORM = "application/x-www-form-urlencoded"
  LENGTH = (800..4000) # characters of what is posted

  # topics: ids; cookie, token: of a session; not a form's token, which is good for that form only.
  def initialize(seed, topics, cookie, token)
    @babble = Babble.new(seed)
    @topics = topics
    @cookie = cookie
    @token = token
  end

  # One JSON object each.
  def lines
    [latest, *reads, *replies, *openings].map { |request| JSON.generate(request) }
  end

  private

  def latest
    { path: "/", headers: { "Cookie" => @cookie }, status: 200, weight: 1 }
  end

  def reads
    @topics.map do |id|
      { path: "/topics/#{id}", headers: { "Cookie" => @cookie }, status: 200, weight: 1.fdiv(@topics.size) }
    end
  end

  def replies
    Array.new(TEXTS) { post("/topics/#{@babble.pick(@topics)}/posts", {}) }
  end

  def openings
    Array.new(TEXTS) { post("/topics", "topic[title]" => @babble.title) }
  end

  def post(path, fields)
    fields = { "authenticity_token" => @token, "post[author]" => @babble.name,
               "post[body]" => @babble.text(LENGTH) }.merge(fields)
    { method: "POST", path: path, headers: { "Cookie" => @cookie, "Content-Type" => FORM },
      body: URI.encode_www_form(fields), status: 302, weight: 1.fdiv(TEXTS) }
  end
end
