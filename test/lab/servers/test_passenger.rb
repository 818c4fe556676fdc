# frozen_string_literal: true

require "test_helper"
require "etc"
require "net/http"
require_relative "support/served_app"

# Passenger's cache: off, unless it is what is asked for.
class TestPassenger < Minitest::Test
  include ServedApp

  # How often it was asked so far; may be kept.
  APP = <<~RUBY
    count = 0
    run(lambda do |_env|
      text = (count += 1).to_s
      [200, { "content-type" => "text/plain", "content-length" => text.bytesize.to_s, "cache-control" => "public, max-age=60" }, [text]]
    end)
  RUBY

  def test_it_keeps_nothing
    start(nil)
    assert_equal 4, answers.uniq.length
    assert_equal [true, false, false], proved("cache")
    @server.setup.model = "turbocached"
    assert_equal [false, true, false], proved("cache")
  end

  # Each of its threads keeps its own cache; there are as many threads as cores.
  def test_but_for_the_variant_that_is_about_that
    start("turbocached")
    assert_operator answers(40 * Etc.nprocessors).tally.values.max, :>, 1
    assert_equal [true, true, true], proved("cache")
  end

  private

  def start(model)
    serve("passenger", made(model, workers: 1, keep_alive: true))
  end

  def answers(count = 4)
    Array.new(count) { Net::HTTP.get(URI(@server.url)) }
  end
end
