# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"
require_relative "../../benchmark/support/bench"
require_relative "support/measured"

# Results in a document: benchmark/table fills their places, and leaves the rest alone.
class TestBenchmarkDocument < Minitest::Test
  include TemporaryDirectory

  TABLE = File.expand_path("../../benchmark/table", __dir__)
  PLACES = <<~TEXT
    # Title

    Before.

    <!-- results: hello, written by benchmark/table -->
    <!-- end of results -->

    Between.

    <!-- results: fair, written by benchmark/table -->

    ### fair

    old

    <!-- end of results -->

    After.
  TEXT

  def setup
    @path = "#{@directory}/page.md"
    File.write(@path, PLACES)
  end

  def test_a_place_gets_its_benchmark_and_the_rest_stays
    fill(measured("hello", 6.0))
    assert_match(/^### hello\n\n!.*\n\nTitle\n\n\| server /, text)
    assert_match(/^\| cuttle reactor \(abc\) \| 6\.00 \|  \|$/, text)
    assert_includes text, "### fair\n\nold\n"
    assert_equal outside(PLACES), outside(text)
  end

  def test_twice_is_as_once
    fill(measured("hello", 6.0), measured("fair", 7.0))
    once = text
    fill(measured("hello", 6.0), measured("fair", 7.0))
    assert_equal once, text
    refute_includes once, "old"
  end

  def test_hello_has_a_picture
    fill(measured("hello", 6.0))
    assert_match(/^!\[CPU time .*: line: .* 5\.00; cuttle reactor 6\.00\]\(images\/hello\.svg\)$/, text)
    assert_includes File.read("#{@directory}/images/hello.svg"), "cuttle reactor"
    fill(measured("fair", 6.0))
    assert_equal 1, text.scan("![").length
  end

  def test_results_of_one_benchmark_share_its_place
    fill(measured("fair", 6.0), measured("fair", 7.0))
    assert_equal 1, text.scan("### fair").length
    assert_operator text.index("| 6.00 |"), :<, text.index("| 7.00 |")
  end

  def test_nothing_is_written_without_a_place
    _, error, status = table(measured("hello", 6.0), measured("static", 6.0))
    refute_predicate status, :success?
    assert_match(/page\.md has no place for static: add the lines <!-- results: static, written by/, error)
    assert_equal PLACES, text
  end

  def test_results_of_several_commits
    out, error, = table(measured("hello", 6.0), measured("fair", 7.0, commit: "def"))
    assert_includes out, "hello (abc), fair (def)"
    assert_equal "! of several commits\n", error
    _, error, = table(measured("hello", 6.0), measured("fair", 7.0))
    assert_empty error
  end

  def test_to_the_screen
    out, error, status = Open3.capture3(RbConfig.ruby, TABLE, measured("hello", 6.0), measured("fair", 7.0))
    assert_predicate status, :success?, error
    assert_equal ["### hello", "### fair"], out.lines(chomp: true).grep(/^#/)
    refute_includes out, "!["
    assert_equal ["page.md"], Dir.children(@directory).grep(/\.md|images/)
  end

  # Each mark of the documents names a place that is found, so no results are lost in one that is misspelt.
  def test_places_of_our_documents
    root = File.expand_path("../..", __dir__)
    places = %w[performance engines].to_h { |name| [name, Bench::Document.new("#{root}/docs/#{name}.md").names] }
    assert_includes places["performance"], "hello"
    assert_equal ["models"], places["engines"]
    places.each do |name, found|
      assert_equal File.read("#{root}/docs/#{name}.md").scan("<!-- results:").length, found.length, name
      assert_equal found.uniq, found, name
    end
  end

  private

  # The directory of results in which the reactor took so many microseconds, and the canned responder 5.
  def measured(name, cost, commit: "abc")
    costs = { "canned" => 5.0, "cuttle reactor" => cost }
    note = { "name" => name, "title" => "Title", "columns" => ["cpu"], "figures" => [], "commit" => commit }
    rates = costs.transform_values { [1000] * 5 }
    Measured.write(Dir.mktmpdir(nil, @directory), rates, note: note) do |subject, _|
      { "server" => { "cpu_us" => costs[subject] } }
    end
  end

  def fill(*directories)
    reports = directories.map { |directory| Bench::Report.new(Cuttle::Lab::Results.read(directory)) }
    Bench::Document.new(@path).fill(reports)
  end

  def table(*directories)
    Open3.capture3(RbConfig.ruby, TABLE, "--into", @path, *directories)
  end

  def text
    File.read(@path)
  end

  def outside(text)
    text.gsub(/^(<!-- results: \w+, written by.*? -->).*?<!-- end of results -->$/m) { Regexp.last_match(1) }
  end
end
