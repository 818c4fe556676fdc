# frozen_string_literal: true

require "test_helper"

# Figures as people read them.
class TestReportNumbers < Minitest::Test
  Numbers = Cuttle::Report::Numbers

  def test_ratios_have_the_digits_that_matter
    assert_equal %w[0.000 0.012 0.99 1.50 1000.00], [0, 0.0123, 0.994, 1.5, 1000].map { |value| Numbers.ratio(value) }
    assert_equal Numbers::NONE, Numbers.ratio(nil)
  end

  def test_a_ratio_that_too_few_runs_give_has_no_digits
    assert_equal ["under 0.001", "over 1,000"], [1e-9, 1.7e64].map { |value| Numbers.ratio(value) }
  end
end
