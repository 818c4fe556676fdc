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

  # Seconds of a run of half an hour, and a gigabyte, are among them.
  def test_ticks_have_no_exponents
    assert_equal ["0.25", "999", "1,000", "1,500", "-2,000"],
                 [0.25, 999.4, 999.6, 1500.0, -2000].map { |value| Numbers.short(value) }
    assert_equal ["950", "1.5k", "2,000k"], [950, 1500, 2_000_000].map { |value| Numbers.tick_count(value) }
    assert_equal ["1,500 MB", "3,600 s"], [Numbers.tick_size(1_500_000_000), Numbers.tick_time(3_600_000)]
  end
end
