# frozen_string_literal: true

require "test_helper"
require "tempfile"

# The kinds of requests, and the requests of access logs.
class TestTunerMix < Minitest::Test
  Mix = Cuttle::Tuner::Mix

  CUTTLE = '127.0.0.1 - - [24/Nov/2026:06:00:00 +0000] "GET /posts/%d?page=2 HTTP/1.1" 200 512 0.0123'
  COMBINED = '127.0.0.1 - bob [24/Nov/2026:06:00:00 +0000] "GET /posts HTTP/1.1" 200 5 "-" "x \x22y" 0.0001'
  PUMA = '127.0.0.1 - - [24/Nov/2026:06:00:00 +0000] "GET /posts HTTP/1.1" 200 - 0.0021'
  RAILS = 'I, [2026-11-24T06:00:00.1 #1]  INFO -- : [abc-1] Started GET "/posts/17" for 10.0.0.1 at 2026-11-24 06:00'
  JSON_LINE = '{"time":"2026-11-24T06:00:00+00:00","method":"GET","path":"/posts/17","query":"?a=1","status":200}'

  def test_every_format_is_understood
    { CUTTLE % 17 => "/posts/17?page=2", COMBINED => "/posts", PUMA => "/posts", RAILS => "/posts/17",
      JSON_LINE => "/posts/17?a=1" }.each do |line, path|
      assert_equal [["GET", path]], from(line).map { |request| [request.method, request.path] }, line
    end
  end

  def test_octets_that_our_logs_escape_are_sent_as_octets_that_urls_escape
    assert_equal ["/caf%C3%A9"], from('h - - [t] "GET /caf\xc3\xa9 HTTP/1.1" 200 5 0.1').map(&:path)
  end

  def test_a_kind_has_a_few_paths_and_all_of_its_weight
    lines = (1..100).map { |id| CUTTLE % id } + Array.new(50) { PUMA }
    shapes = Mix.shapes(from(*lines))
    assert_equal({ "GET /posts/:id?page" => 100.0, "GET /posts" => 50.0 },
                 shapes.to_h { |shape| [shape.name, shape.weight.round(2)] })
    assert_equal 10, shapes.first.requests.length
  end

  # A path that is most of its kind stays most of it.
  def test_frequent_paths_stay_frequent
    ids = [1] * 90 + [*2..11]
    found = from(*ids.map { |id| CUTTLE % id })
    assert_in_delta 0.9, found.find { |request| request.path.include?("/1?") }.weight / found.sum(&:weight), 0.05
  end

  def test_identifiers_and_slugs_are_no_kinds
    slugs = %w[a b c d e f g h i j k l m n o p].map { |letter| ["GET", "/posts/#{letter}-thing"] }
    paths = Mix::Path::Shapes.new([*slugs, ["GET", "/posts/a-thing/comments/5"], ["GET", "/about/us"]])
    { "/posts/c-thing" => "GET /posts/:slug", "/posts/a-thing/comments/5" => "GET /posts/:slug/comments/:id",
      "/about/us" => "GET /about/us" }.each { |path, name| assert_equal name, paths.name("GET", path) }
    { "/" => "/", "/a/17.json" => "/a/:id.json", "/a/?q=1&p[x]=2&q=3" => "/a/?p&q",
      "/a/123e4567-e89b-12d3-a456-426614174000" => "/a/:id", "/d41d8cd98f00b204e980" => "/:id",
      "/eyJhbGciOiJIUzI1NiJ9x" => "/:id", "/administration" => "/administration" }.each do |path, name|
      assert_equal "GET #{name}", Mix::Path::Shapes.new([["GET", path]]).name("GET", path)
    end
  end

  # Half of the requests are for one page. Of the others, 990 paths in 5,000 are kept.
  def test_requests_of_paths_that_are_not_kept_count_for_their_kind
    lines = ["GET /rare"] + (1..5000).flat_map { |id| ["GET /posts", "GET /posts/#{id}"] } + ["GET /new"]
    left_out = {}
    requests = file(*lines.map { |line| %(h - - [t] "#{line} HTTP/1.1" 200 5 0.1) }) do |path|
      Mix::Log.new(path, kept: 992).requests { |count, reason| left_out[reason] = count }
    end
    assert_equal({ "GET /posts" => 5000.0, "GET /posts/:id" => 5000.0, "GET /rare" => 1.0 },
                 Mix.shapes(requests).to_h { |shape| [shape.name, shape.weight.round(2)] })
    assert_equal({ "of too many different paths" => 1 }, left_out)
  end

  # The words that follow "/posts" were gathered again for each name: 100,000 slugs took some minutes.
  def test_many_slugs_are_gathered_once
    requests = ("a".."z").to_a.repeated_permutation(3).first(8000).map { |word| ["GET", "/posts/#{word.join}-thing"] }
    paths = Mix::Path::Shapes.new(requests)
    places = Mix::Path::Place.method(:new)
    gathered = 0
    count = ->(nodes) { (gathered += nodes.length) && places.call(nodes) }
    names = Mix::Path::Place.stub(:new, count) { requests.map { |request| paths.name(*request) } }
    assert_equal ["GET /posts/:slug"], names.uniq
    assert_operator gathered, :<=, requests.length + 3, "each word, and the three places before it"
  end

  def test_what_is_left_out_is_counted_by_reason
    left_out = {}
    post, failed, odd = %w[POST GET GET].zip(%w[/posts /gone x/y], [200, 404, 200])
                                        .map { |line| format('h - - [t] "%s %s HTTP/1.1" %d 5 0.1', *line) }
    found = from(PUMA, post, failed, odd, "h [t] broken HTTP/1.1") { |count, reason| left_out[reason] = count }
    assert_equal ["/posts"], found.map(&:path)
    assert_equal [1, 1, 1, 1], left_out.values
    %w[GET\ and\ HEAD error path understood].each do |word|
      assert left_out.keys.any? { |reason| reason.include?(word) }, word
    end
  end

  def test_requests_that_may_change_data_are_replayed_on_request
    post = PUMA.sub("GET", "POST")
    assert_equal %w[GET POST], from(PUMA, post, unsafe: true).map(&:method).sort
  end

  def test_rare_kinds_are_left_out
    lines = (1..60).map { |number| PUMA.sub("/posts", "/#{"x" * number}") } + [PUMA, PUMA]
    left_out = nil
    found = from(*lines) { |count, reason| left_out = [count, reason] }
    assert_equal [40, "/posts", [21, "of rare kinds"]], [found.length, found.first.path, left_out]
  end

  def test_what_is_no_access_log_is_named_in_one_line
    error = assert_raises(Cuttle::UsageError) { from(*Array.new(300) { "\xff something else" }) }
    assert_match(/\A--from: .*no request/, error.message)
    assert_equal 1, error.message.lines.length
    assert_match(/No such file/, assert_raises(Cuttle::UsageError) { Mix.from_log("/none") }.message)
  end

  # Rails writes those of jobs and of the boot into the same log.
  def test_a_log_may_begin_with_many_lines_that_are_no_requests
    jobs = Array.new(1000) { |number| "I, [2026-11-24T06:00:00.1 #1]  INFO -- : [ActiveJob] Performed job #{number}" }
    assert_equal ["/posts/17"], from(*jobs, RAILS).map(&:path)
    error = assert_raises(Cuttle::UsageError) { file(*jobs, RAILS) { |path| Mix::Log.new(path, look: 3).requests } }
    assert_match(/no request in its first 3 lines /, error.message)
  end

  def test_lines_that_are_not_utf8_end_nothing
    odd = [%({"method":"GET","path":"/\xFF","status":200}), %({"method":"GET","path":"/\\ud800","status":200}),
           %({"method":"GET","path":"/","query":"\\udc00"}),
           %({"method":"GET","path":"/a","query":5,"status":[200]}), %({"method":"\xFF"}), %({"path":), "{}", "{\xFF",
           %(h - - [t] "GET /caf\xE9 HTTP/1.1" 200 5 0.1), %(Started GET "/\xFF" for 10.0.0.1), "\0\xFE\xFF"]
    assert_equal ["/posts"], from(*odd, PUMA).map(&:path)
  end

  def test_a_compressed_log_is_named
    error = assert_raises(Cuttle::UsageError) { from("\x1F\x8B\x08\0 and so on".b) }
    assert_match(/ it is compressed: zcat /, error.message)
  end

  def test_requests_of_a_mix_are_grouped
    requests = %w[/topics/1 /topics/2 /].map { |path| Cuttle::Load::Request.new(path: path, weight: 2) } +
               [Cuttle::Load::Request.new(method: "POST", path: "/topics/1", body: "x")]
    assert_equal [["GET /topics/:id", 2, 4.0], ["GET /", 1, 2.0], ["POST /topics/:id", 1, 1.0]],
                 Mix.shapes(requests).map { |shape| [shape.name, shape.requests.length, shape.weight] }
  end

  private

  def from(*lines, **options, &left_out)
    file(*lines) { |path| Mix.from_log(path, **options, &left_out) }
  end

  def file(*lines)
    Tempfile.create("log") do |file|
      file.write(lines.join("\n"), "\n")
      file.flush
      yield file.path
    end
  end
end
