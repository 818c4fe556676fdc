# frozen_string_literal: true

require "test_helper"

class TestStaticHttpDate < Minitest::Test
  MOMENT = Time.utc(1994, 11, 6, 8, 49, 37).to_i

  def test_formats_as_imf_fixdate
    assert_equal "Sun, 06 Nov 1994 08:49:37 GMT", Cuttle::Static::HttpDate.format(MOMENT)
  end

  def test_reads_all_three_forms
    ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"].each do |text|
      assert_equal MOMENT, parse(text), text
    end
  end

  def test_every_date_comes_back
    random = Random.new(1)
    200.times do
      seconds = random.rand(0..4_000_000_000)
      assert_equal seconds, parse(Cuttle::Static::HttpDate.format(seconds))
    end
  end

  def test_two_digit_years_lie_at_most_fifty_years_ahead
    year = Time.now.utc.year
    [-49, -1, 0, 1, 49].each { |distance| assert_year(year + distance) }
    assert_equal year - 49, Time.at(parse(format("Monday, 01-Jun-%02d 00:00:00 GMT", (year + 51) % 100))).utc.year
  end

  # RFC 9110, 5.6.7: the moment counts, not only the year.
  def test_two_digit_years_near_fifty_years_ahead
    now = Time.now.utc
    moment = Time.utc(now.year + 50, now.month, now.day)
    [moment - 172_800, moment + 172_800].zip([0, 100]) do |time, years|
      read = Time.at(parse(time.strftime("%A, %d-%b-%y %H:%M:%S GMT"))).utc
      assert_equal [time.year - years, time.month, time.day], [read.year, read.month, read.day], time.to_s
    end
  end

  def test_a_leap_second_is_the_next_second
    assert_equal Time.utc(2017, 1, 1).to_i, parse("Sat, 31 Dec 2016 23:59:60 GMT")
  end

  def test_everything_else_is_no_date
    ["", "now", "1994", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT",
     "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
     "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 00:00:00 GMT", "Sun, 30 Feb 1994 08:49:37 GMT",
     "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Xun, 06 Nov 1994 08:49:37 GMT",
     "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 1994 08:49:37 GMT\nx", "\xff"].each do |text|
      assert_nil parse(text), text
    end
  end

  private

  def parse(text)
    Cuttle::Static::HttpDate.parse(text.b)
  end

  def assert_year(year)
    assert_equal year, Time.at(parse(format("Monday, 01-Jun-%02d 00:00:00 GMT", year % 100))).utc.year
  end
end
