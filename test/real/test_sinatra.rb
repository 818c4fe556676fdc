# frozen_string_literal: true

require "digest/sha2"
require_relative "real"

# The Sinatra app, under Sinatra 4 (Rack 3) on every engine alone and forked, and under Sinatra 3 (Rack 2.2) on every
# engine alone.
module SinatraChecks
  def test_a_page_is_served
    page = get("/")
    assert_equal "200", page.code
    assert_match(/\Atext\/html\b/, page["content-type"])
    assert_includes page.body, "Sinatra"
    assert_equal page.body.bytesize.to_s, page["content-length"]
  end

  # Each request on its own connection, so in a cluster on any of the workers.
  def test_a_session_survives
    visits = Array.new(10) { get("/visits").body[/\Avisit (\d+)/, 1].to_i }
    assert_equal (1..10).to_a, visits
  end

  def test_sessions_of_two_browsers_do_not_mix
    get("/visits")
    assert_match(/\Avisit 1,/, Real::Browser.new(server).get("/visits").body)
    assert_match(/\Avisit 2,/, get("/visits").body)
  end

  # Beyond what a server keeps in memory, and one that fits.
  def test_an_upload_arrives_unchanged
    [0, 1, 70_000, 3_000_000].each do |size|
      content = Random.bytes(size)
      answer = post_multipart("/upload", "file" => [content, "a b.bin", "application/octet-stream"])
      assert_equal "a b.bin: #{size} bytes, sha256 #{Digest::SHA256.hexdigest(content)}\n", answer.body
    end
  end

  def test_an_upload_without_a_file_is_refused
    assert_equal "400", post_multipart("/upload", "other" => ["x"]).code
  end

  def test_sinatras_stream_arrives_piece_by_piece
    assert_follows "/feed/each"
  end

  def test_a_redirect_leads_home
    answer = get("/home")
    assert_equal "302", answer.code
    assert_equal "#{server.url}/", answer["location"]
  end

  def test_an_unknown_path_is_not_found
    answer = get("/nowhere")
    assert_equal ["404", "there is no /nowhere\n"], [answer.code, answer.body]
  end

  def test_an_error_of_the_app_is_its_error_page
    answer = get("/error")
    assert_equal ["500", "sorry: the app broke\n"], [answer.code, answer.body]
    assert_equal "200", get("/").code
  end

  def test_head_has_the_fields_of_get_and_no_body
    page = get("/")
    head = request(Net::HTTP::Head.new("/"))
    assert_nil head.body
    assert_equal page["content-length"], head["content-length"]
  end

  def test_a_follower_that_leaves_delays_nobody
    TCPSocket.open("127.0.0.1", server.port) do |socket|
      socket.write("GET /feed/each HTTP/1.1\r\nHost: localhost\r\n\r\n")
      assert_includes socket.each_line, "following\n"
    end
    tell("anybody here?")
    tell("bye")
    assert_equal "200", get("/").code
  end

  private

  # The app writes the next line only after a request for it, and the test sends that request only after the last line
  # has arrived. So a server that holds anything back never gets to the end.
  def assert_follows(path)
    received = +""
    answer = request(Net::HTTP::Get.new(path)) do |response|
      response.read_body do |piece|
        received << piece
        tell("one") if received == "following\n"
        tell("bye") if received == "following\none\n"
      end
    end
    assert_equal "following\none\nbye\n", received
    assert_equal "chunked", answer["transfer-encoding"]
  end

  # By a second request while the first is being answered; where the engine can't do that, past the server.
  def tell(line)
    return self.class.feed.write("#{line}\n") unless way.concurrent?

    answer = connect { |http| http.post("/feed", URI.encode_www_form(line: line)) }
    assert_equal "204", answer.code
  end
end

# What only Rack 3 has.
module SinatraOnRack3Checks
  include SinatraChecks

  def test_a_rack_3_streaming_body_arrives_piece_by_piece
    assert_follows "/feed/call"
  end
end

class SinatraTest < Real::ServedTest
  # The file through which the app's workers notify each other of new lines.
  def self.feed
    @feed ||= Tempfile.new("feed").tap { |file| file.sync = true }
  end

  def self.environment
    { "FEED" => feed.path, "APP_ENV" => "production" }
  end

  for_each Real::WAYS, Real::SINATRA, SinatraOnRack3Checks
  for_each Real::ALONE, Real::SINATRA_RACK2, SinatraChecks
end
