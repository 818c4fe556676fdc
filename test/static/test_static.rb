# frozen_string_literal: true

require "test_helper"

# Which requests are answered, with which file and with which header fields.
class TestStatic < Minitest::Test
  include StaticSite

  # Files and their header fields

  def test_a_file
    put "hello.html", "Hello"
    answer = get("/hello.html")
    assert_equal 200, answer.status
    assert_equal "Hello", answer.body
    assert_equal "text/html; charset=utf-8", answer.headers["content-type"]
    assert_equal DATE, answer.headers["last-modified"]
    assert_equal "bytes", answer.headers["accept-ranges"]
    assert_match(/\A(W\/)?"\h+-\h+-\h+"\z/, answer.headers["etag"])
  end

  def test_head
    put "hello.html", "Hello"
    answer = get("/hello.html", method: "HEAD")
    assert_equal [200, ""], [answer.status, answer.body]
    assert_equal get("/hello.html").headers.merge("content-length" => "5"), answer.headers
  end

  def test_content_types
    { "a.css" => "text/css; charset=utf-8", "a.js" => "application/javascript; charset=utf-8", "A.PNG" => "image/png",
      "a.json" => "application/json", "a.unheard-of" => "application/octet-stream", "a" => "application/octet-stream",
      "a.tar.gz" => "application/x-gzip" }.each do |name, type|
      put name
      assert_equal type, get("/#{name}").headers["content-type"], name
    end
  end

  def test_the_type_has_no_charset_without_one
    put "a.css"
    assert_equal "text/css", get("/a.css", static: static(charset: nil)).headers["content-type"]
  end

  def test_rack_knows_the_usual_types
    types = Cuttle::Rack::ContentTypes
    assert_equal %w[text/html text/css image/png], [".html", ".css", ".png"].map { |extension| types.call(extension) }
    assert_nil types.call(".unheard-of")
    assert_nil types.call("")
  end

  def test_an_empty_file
    put "empty.css", ""
    assert_equal [200, ""], [get("/empty.css").status, get("/empty.css").body]
  end

  def test_large_files_are_sent_from_the_file
    content = Random.bytes(Cuttle::Static::Delivery::SMALL + 1)
    put "large", content
    put "small", content[1..]
    assert_equal [:file, content], [get("/large").sent, get("/large").body]
    assert_equal [:strings, content[1..]], [get("/small").sent, get("/small").body]
  end

  def test_names_with_strange_characters
    ["a b.html", "caf\u00e9.html", "100%.html", "%2e%2e", "a\nb", "a?b", "a;b", "\xff.html", "+"].each do |name|
      put name, "found"
      assert_equal "found", get("/#{name.b.gsub(/[^a-z]/n) { |octet| format("%%%02X", octet.ord) }}").body, name
    end
  end

  # Directories

  def test_index
    put "index.html", "top"
    put "sub/index.html", "sub"
    assert_equal %w[top sub], [get("/").body, get("/sub/").body]
    refute static(index: nil).call(FakeExchange.new("/"))
  end

  def test_a_directory_without_its_slash_is_redirected
    put "sub/index.html"
    put "s p/index.html"
    { "/sub" => "/sub/", "/sub?a=/b" => "/sub/?a=/b", "/%73ub" => "/%73ub/", "/s%20p" => "/s%20p/" }.each do |from, to|
      answer = get(from)
      assert_equal [301, to, ""], [answer.status, answer.headers["location"], answer.body]
    end
  end

  def test_a_directory_without_an_index_is_not_there
    put "sub/page.html"
    ["/sub", "/sub/", "/"].each { |path| assert_passed path }
  end

  def test_an_index_that_is_a_directory_is_not_there
    put "sub/index.html/page"
    ["/sub", "/sub/"].each { |path| assert_passed path }
  end

  def test_no_redirect_to_another_host
    put "index.html"
    put "evil.test/index.html"
    ["//evil.test", "/%2fevil.test", "/\\evil.test", "/%5cevil.test", "///evil.test", "//evil.test/..",
     "/./evil.test", "/.//evil.test"].each { |path| assert_passed path }
  end

  # What isn't served

  def test_other_methods_are_passed_on
    put "a.html"
    %w[POST PUT DELETE OPTIONS TRACE get PROPFIND].each { |method| assert_passed "/a.html", method: method }
  end

  def test_dot_files_are_not_served
    %w[.env .git/config sub/.htaccess .well-known/x ..a].each { |name| put name }
    %w[/.env /.git/config /%2egit/config /sub/.htaccess /.well-known/x /..a /%2e%2ea].each { |path| assert_passed path }
  end

  def test_hostile_paths_are_passed_on
    put "a.html"
    ["/../secret", "/%2e%2e/secret", "/..%2fsecret", "/..%5csecret", "/%252e%252e/secret", "/%25252e/secret",
     "/..%c0%afsecret", "/..%255csecret", "/a.html%00.png", "/a.html/", "/a.html/.", "/a.html/../../secret",
     "/#{"a" * 5000}", "/#{"a/" * 5000}", "/#{@directory}/secret"].each { |path| assert_passed path }
  end

  def test_links_that_lead_out_are_passed_on
    link "#{@directory}/secret", "absolute.html"
    link "../secret", "relative.html"
    link "..", "up"
    ["/absolute.html", "/relative.html", "/up/secret", "/up/root/absolute.html"].each { |path| assert_passed path }
  end

  def test_links_within_are_followed
    put "releases/2/page.html", "second"
    link "releases/2", "current"
    assert_equal "second", get("/current/page.html").body
  end

  def test_devices_and_pipes_are_passed_on
    File.mkfifo("#{@root}/pipe.html")
    assert_passed "/pipe.html"
  end

  def test_where_nothing_stands_behind
    put "a.html"
    { "/none" => 404, "/../x" => 404, "/%2e%2e/x" => 404, "/a%2fb" => 404, "/" => 404, "/%00" => 400, "/%zz" => 400 }
      .each { |path, status| assert_equal status, get(path, static: static(final: true)).status, path }
    %w[POST PUT DELETE OPTIONS TRACE PATCH].each do |method|
      answer = get("/a.html", static: static(final: true), method: method)
      assert_equal [405, "GET, HEAD"], [answer.status, answer.headers["allow"]], method
    end
    assert_equal "a.html", get("/a.html", static: static(final: true)).body
  end

  # RFC 9110, 9.1: an unrecognized method gets 501. A 405 says that the server knows it (15.5.6).
  def test_methods_that_nobody_knows
    put "a.html"
    %w[get BREW PROPFIND].product(%w[/a.html /none]) do |method, path|
      answer = get(path, static: static(final: true), method: method)
      assert_equal [501, nil], [answer.status, answer.headers["allow"]], "#{method} #{path}"
    end
  end

  def test_a_root_that_is_none
    error = assert_raises(Cuttle::UsageError) { Cuttle::Static.new("#{@root}/none", content_types: TYPES.method(:[])) }
    assert_includes error.message, "#{@root}/none"
  end

  def test_the_servers_own_limits_are_no_missing_file
    put "a.html"
    site = static
    limits = Process.getrlimit(:NOFILE)
    Process.setrlimit(:NOFILE, 0, limits.last)
    answer = nil
    assert_output(nil, /Too many open files/) { answer = get("/a.html", static: site) }
    assert_equal 503, answer.status
  ensure
    Process.setrlimit(:NOFILE, *limits)
  end

  def test_a_failure_behind_the_first_octet_breaks_the_connection_off
    put "a.html"
    connection = FakeExchange.new("/a.html")
    connection.define_singleton_method(:respond) do |*arguments|
      super(*arguments)
      raise Errno::EIO
    end
    assert_output(nil, /Errno::EIO/) { assert_equal true, static.call(connection) }
    assert_predicate connection, :aborted?
  end

  def test_a_thread_that_is_killed_leaves_no_client_waiting
    put "a.html"
    connection = FakeExchange.new("/a.html")
    connection.define_singleton_method(:respond) { |*| Thread.current.kill }
    Thread.new { static.call(connection) }.join
    assert_predicate connection, :aborted?
  end

  # Freshness

  def test_a_change_is_seen_at_once
    site = static
    put "a.html", "one"
    settle "a.html"
    2.times { assert_equal "one", get("/a.html", static: site).body }
    before = get("/a.html", static: site).headers
    put "a.html", "two", modified: DocumentRoot::OLD + 60
    after = get("/a.html", static: site)
    assert_equal "two", after.body
    refute_equal before["etag"], after.headers["etag"]
    refute_equal before["last-modified"], after.headers["last-modified"]
    File.delete("#{@root}/a.html")
    refute site.call(FakeExchange.new("/a.html"))
    put "a.html/index.html", "directory"
    assert_equal 301, get("/a.html", static: site).status
  end

  def test_the_tag_is_weak_until_the_file_has_been_unchanged_for_long
    put "a.html"
    assert_match(/\AW\//, get("/a.html").headers["etag"])
    settle "a.html"
    assert_match(/\A"/, get("/a.html").headers["etag"])
  end

  def test_descriptions_kept_are_bounded
    site = static
    link "a.html", "b.html"
    put "a.html", "content"
    settle "a.html"
    before = ObjectSpace.each_object(Cuttle::Static::Representation).count
    2000.times { |n| assert_equal "content", get("/#{"%61.html" if n.even?}#{"b.html" if n.odd?}", static: site).body }
    (1..1500).each do |n|
      File.symlink("a.html", "#{@root}/#{n}.html")
      assert_equal "content", get("/#{n}.html", static: site).body
    end
    GC.start
    count = ObjectSpace.each_object(Cuttle::Static::Representation).count - before
    assert_operator count, :<=, Cuttle::Static::Tree::KEPT + 20
  end
end
