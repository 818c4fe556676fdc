# frozen_string_literal: true

require "test_helper"
require_relative "../../report/support/looked_at"
require_relative "support/report_case"

# The page in a browser: on a telephone and on a screen, light and dark.
class TestLabReportInChromium < Minitest::Test
  include ReportCase
  include LookedAt

  def setup
    super
    look_at("#{empty_directory}/report.html", html)
  end

  def test_charts_and_their_texts_are_there
    each_view do |_, view|
      assert_operator browser.evaluate("document.querySelectorAll('svg[role=img]').length"), :>, 40, view
      assert_includes browser.evaluate("document.querySelector('#throughput svg[role=img]').textContent"), "connections"
      assert_includes browser.evaluate("document.querySelector('#ratios svg[role=img]').textContent"), "hybrid -t 5"
    end
  end

  def test_the_data_can_be_read_back
    browser.visit(@path, width: 1280, scheme: "light")
    count = browser.evaluate("JSON.parse(document.getElementById('cuttle-lab-data').textContent).runs.length")
    assert_equal 14 * 5 * 5, count
  end

  def test_what_comes_from_outside_runs_nothing
    evil = %(</script><script>document.title = "taken"</script><img src=x onerror="document.title = 'taken'">)
    lab = ReportedLab.new(names: { "c1" => evil }, rounds: 1)
    File.write(@path, Cuttle::Lab::Report.html(*read(directory(lines: lab.lines))))
    browser.visit(@path, width: 1280, scheme: "light")

    assert_includes browser.evaluate("document.title"), "cuttle lab"
    assert_empty browser.complaints
  end
end
