# frozen_string_literal: true

require "test_helper"
require "open3"
require "time"

# The Date field (ext/cuttle/date.c), which has a calendar of its own: against Ruby's, and without an environment.
class TestDate < Minitest::Test
  SOURCE = File.expand_path("../../ext/cuttle/date.c", __dir__)

  # Dates of the seconds that it reads, then of now. Whoever looks into the environment ends it.
  PROGRAM = <<~C
    #include <clock.h>
    #include <stdio.h>

    extern char **environ;

    int main(void)
    {
    	const char *line;
    	char text[CUTTLE_DATE_ROOM];
    	long long second;
    	size_t length;

    	environ = (char **)8;
    	while (scanf("%lld", &second) == 1)
    		fwrite(text, 1, cuttle_date_render(second, text), stdout);
    	length = cuttle_date_line(&line);
    	fwrite(line, 1, length, stdout);
    	return 0;
    }
  C

  # Each day from 1970 to 2399, at any time of it.
  def test_dates_are_those_of_rubys_calendar
    random = Random.new(1)
    seconds = (Time.utc(1970).to_i...Time.utc(2400).to_i).step(86_400).map { |day| day + random.rand(86_400) }
    seconds += [0, 86_399, 86_400, Time.utc(9999, 12, 31, 23, 59, 59).to_i]
    expected = seconds.map { |second| "date: #{Time.at(second).httpdate}\r\n" }
    *dates, now = dates_of(seconds)
    assert_equal expected.zip(dates).reject { |pair| pair.uniq.one? }, []
    assert_in_delta Time.now.to_f, Time.httpdate(now[/: (.*)\r\n/, 1]).to_f, 60
  end

  # A clock that was never set, or set by a joker.
  def test_times_that_are_none
    first, *_, last, _now = dates_of([-1, (1 << 63) - 1])
    assert_equal "date: Thu, 01 Jan 1970 00:00:00 GMT\r\n", first
    assert_match(/\Adate: \w{3}, \d\d \w{3} \d+ \d\d:\d\d:\d\d GMT\r\n\z/, last)
  end

  private

  def dates_of(seconds)
    Dir.mktmpdir("cuttle") do |directory|
      File.write("#{directory}/date.c", PROGRAM)
      compiler = RbConfig::CONFIG["CC"].split.first
      system(compiler, "-D_GNU_SOURCE", "-I#{File.dirname(SOURCE)}", "-o", "#{directory}/date", "#{directory}/date.c",
             SOURCE, exception: true)
      dates, status = Open3.capture2("#{directory}/date", stdin_data: seconds.join("\n"), binmode: true)
      assert_predicate status, :success?
      dates.lines
    end
  end
end
