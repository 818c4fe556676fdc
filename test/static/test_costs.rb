# frozen_string_literal: true

require "test_helper"

# What is held, and by how many at once.
class TestStaticCosts < Minitest::Test
  include StaticSite

  def test_leaves_no_descriptor_open
    put "a.css"
    put "a.css.br"
    put "large", "x" * 100_000
    put "sub/index.html"
    site = static
    requests = lambda do
      etag = get("/a.css", static: site).headers["etag"]
      [{}, { "accept-encoding" => "br" }, { "range" => "bytes=0-0" }, { "if-none-match" => etag },
       { "range" => "bytes=0-0,900-901" }].each do |fields|
        %w[/a.css /large /sub /sub/ /none].each { |path| site.call(FakeExchange.new(path, fields)) }
      end
    end
    requests.call
    GC.start # what other tests have left closes now, and not meanwhile
    before = Dir.children("/dev/fd").size
    GC.disable
    10.times { requests.call }
    assert_equal before, Dir.children("/dev/fd").size
  ensure
    GC.enable
  end

  def test_threads_may_share_it
    site = static
    names = (1..8).map { |n| "#{n}.html".tap { |name| put name, name * 100 } }
    settle(*names)
    bodies = names.map do |name|
      Thread.new { Array.new(200) { get("/#{name}", static: site).body }.uniq }
    end
    assert_equal names.map { |name| [name * 100] }, bodies.map(&:value)
  end
end
