# frozen_string_literal: true

require "digest/sha2"
require "securerandom"
require "sinatra/base"
require_relative "feed"

# A small Sinatra app of what a server must get right for most apps: sessions, a file upload, pieces that are sent as
# they are made, a redirect and error pages. It runs under Sinatra 4 (Rack 3) and Sinatra 3 (Rack 2.2).
class Demo < Sinatra::Base
  # All workers must know the same secret: this one is made before they are forked.
  set :session_secret, ENV.fetch("SESSION_SECRET") { SecureRandom.hex(64) }
  set :feed, Feed.new(ENV.fetch("FEED", "#{__dir__}/storage/feed.txt"))
  set :show_exceptions, false
  enable :sessions

  get("/") { erb :index }

  get "/visits" do
    session[:visits] = session.fetch(:visits, 0) + 1
    text "visit #{session[:visits]}, answered by process #{Process.pid}\n"
  end

  post "/upload" do
    file = params.dig(:file, :tempfile) or halt 400, "send a file as multipart/form-data, in a field named file\n"
    text "#{params[:file][:filename]}: #{file.size} bytes, sha256 #{Digest::SHA256.file(file.path).hexdigest}\n"
  end

  post "/feed" do
    settings.feed.add(params.fetch(:line))
    204
  end

  # Pieces by a body's each, which Rack has always had.
  get "/feed/each" do
    content_type :text
    stream { |out| settings.feed.follow { |line| out << line } }
  end

  # Pieces by a body's call, which Rack 3 has: the app writes to the stream, and closes it.
  get "/feed/call" do
    content_type :text
    body(proc do |stream|
      settings.feed.follow { |line| stream.write(line) }
    ensure
      stream.close
    end)
  end

  get("/home") { redirect "/" }
  get("/error") { raise "the app broke" }

  not_found { text "there is no #{request.path_info}\n" }
  error { text "sorry: #{env["sinatra.error"].message}\n" }

  private

  def text(text)
    content_type :text
    text
  end
end
