# frozen_string_literal: true

require "test_helper"
require_relative "../report/support/looked_at"

# The page of a load in a browser: on a telephone and on a screen, light and dark.
class TestLoadPageInChromium < Minitest::Test
  include LookedAt
  include TemporaryDirectory

  Load = Cuttle::Load

  # One run for all tests: of several requests, one of which fails, in an open loop.
  def self.html
    @html ||= Load::TestServers.open(:null, delays: [0.0002, 0.001, 0.004]) do |server|
      mix = [Load::Request.new(path: "/", weight: 4), Load::Request.new(path: "/posts/1/comments", name: "comments"),
             Load::Request.new(method: "POST", path: "/posts", expect: 201)]
      Load::Reports::Html.render(Load.run(server.url, rate: 1500, duration: 3, connections: 50, mix: mix))
    end
  end

  def setup
    look_at("#{@directory}/load.html", self.class.html)
  end

  def test_charts_are_there
    each_view do |_, view|
      assert_equal 3, browser.evaluate("document.querySelectorAll('svg[role=img]').length"), view
      assert_includes browser.evaluate("document.querySelector('#over-time').textContent"), "good responses/s", view
    end
  end

  # Neither cut off nor to be scrolled.
  def test_tables_fit_a_telephone
    browser.visit(@path, width: 420, scheme: "light")

    assert_empty browser.evaluate(<<~JS)
      Array.from(document.querySelectorAll(".scroll")).filter(box => box.scrollWidth > box.clientWidth)
        .map(box => box.getAttribute("aria-label"))
    JS
  end
end
