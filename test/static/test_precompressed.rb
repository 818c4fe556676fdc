# frozen_string_literal: true

require "test_helper"

# Forms of a file that were compressed beforehand.
class TestStaticPrecompressed < Minitest::Test
  include StaticSite

  def test_the_form_that_the_client_likes_best
    forms "a.css"
    { "br" => "br", "gzip" => "gzip", "gzip, br" => "br", "gzip, br;q=0.5" => "gzip", "deflate" => nil, nil => nil,
      "br;q=0, gzip;q=0" => nil }.each do |field, coding|
      answer = get("/a.css", field ? { "accept-encoding" => field } : {})
      assert_equal [coding, coding || "plain"], [answer.headers["content-encoding"], answer.body], field
      assert_equal %w[text/css;\ charset=utf-8 accept-encoding], answer.headers.values_at("content-type", "vary")
    end
  end

  def test_forms_have_tags_and_ranges_of_their_own
    forms "a.css"
    fields = [{}, { "accept-encoding" => "br" }, { "accept-encoding" => "gzip" }]
    etags = fields.map { |field| get("/a.css", field).headers["etag"] }
    assert_equal etags, etags.uniq
    assert_match(/-br"\z/, etags[1])
    assert_equal 304, get("/a.css", "accept-encoding" => "br", "if-none-match" => etags[1]).status
    assert_equal 200, get("/a.css", "accept-encoding" => "gzip", "if-none-match" => etags[1]).status
    answer = get("/a.css", "accept-encoding" => "gzip", "range" => "bytes=1-2")
    assert_equal [206, "zi", "bytes 1-2/4"], [answer.status, answer.body, answer.headers["content-range"]]
  end

  def test_linked_forms_still_have_different_tags
    put "a.css", "same"
    File.link("#{@root}/a.css", "#{@root}/a.css.gz")
    refute_equal get("/a.css").headers["etag"], get("/a.css", "accept-encoding" => "gzip").headers["etag"]
  end

  # The fuzz target for paths found that it once was.
  def test_the_name_of_a_form_is_no_path
    forms "a.css"
    settle "a.css", "a.css.gz"
    site = static
    get("/a.css", "accept-encoding" => "gzip", static: site)
    refute site.call(FakeExchange.new("a.css.gz", {}))
  end

  def test_a_missing_form_gives_way_to_the_next
    put "a.css", "plain"
    put "a.css.gz", "gzip"
    Dir.mkdir("#{@root}/a.css.br")
    assert_equal "gzip", get("/a.css", "accept-encoding" => "br, gzip").body
    assert_equal "plain", get("/a.css", "accept-encoding" => "br").body
  end

  def test_a_form_that_is_older_than_the_file_is_not_served
    put "a.css", "new"
    put "a.css.gz", "old", modified: DocumentRoot::OLD - 1
    assert_equal "new", get("/a.css", "accept-encoding" => "gzip").body
  end

  def test_a_form_alone_is_a_file_of_its_own
    put "a.css.gz", "gzip"
    assert_passed "/a.css", { "accept-encoding" => "gzip" }
    answer = get("/a.css.gz", "accept-encoding" => "gzip")
    assert_equal ["application/x-gzip", nil], answer.headers.values_at("content-type", "content-encoding")
  end

  def test_what_is_compressed_in_itself_does_not_vary
    forms "a.png"
    answer = get("/a.png", "accept-encoding" => "gzip")
    assert_equal ["plain", nil, nil], [answer.body, *answer.headers.values_at("vary", "content-encoding")]
    forms "a.svg"
    assert_equal "gzip", get("/a.svg", "accept-encoding" => "gzip").body
  end

  def test_no_forms_unless_wanted
    forms "a.css"
    answer = get("/a.css", { "accept-encoding" => "gzip" }, static: static(precompressed: false))
    assert_equal ["plain", nil], [answer.body, answer.headers["vary"]]
  end

  def test_forms_of_an_index
    forms "sub/index.html"
    assert_equal "br", get("/sub/", "accept-encoding" => "br").body
  end

  def test_no_form_is_found_outside
    put "a.css", "plain"
    link "../secret", "a.css.gz"
    assert_equal "plain", get("/a.css", "accept-encoding" => "gzip").body
  end

  private

  def forms(name)
    put name, "plain"
    put "#{name}.br", "br"
    put "#{name}.gz", "gzip"
  end
end
