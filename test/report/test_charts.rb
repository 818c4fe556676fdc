# frozen_string_literal: true

require "test_helper"

# The parts of the charts, each alone.
class TestReportCharts < Minitest::Test
  Charts = Cuttle::Report::Charts
  Scales = Charts::Scales
  Point = Charts::Series::Point

  def test_linear_scale_has_round_ends_and_ticks
    scale = Scales::Linear.around([3, 97], [0, 100], zero: true)

    assert_equal [0, 100], [scale.low, scale.high]
    assert_equal [0, 25, 50, 75, 100], scale.ticks
    assert_in_delta 25, scale.call(25)
  end

  def test_linear_scale_without_zero_holds_all_values
    scale = Scales::Linear.around([103.2, 104.9], [0, 1])

    assert_operator scale.low, :<=, 103.2
    assert_operator scale.high, :>=, 104.9
    assert_operator scale.low, :>, 100
  end

  def test_linear_scale_of_one_value
    scale = Scales::Linear.around([7], [0, 100])
    assert scale.call(7).between?(0, 100)
    refute_empty scale.ticks
    assert_in_delta 0, Scales::Linear.around([0], [0, 100], zero: true).call(0)
  end

  def test_a_range_that_goes_up_is_turned
    assert_in_delta 180, Scales::Linear.new(0, 10, [180, 10]).call(0)
    assert_in_delta 10, Scales::Linear.new(0, 10, [180, 10]).call(10)
  end

  def test_log_scale_gives_equal_ratios_equal_room
    scale = Scales::Log.new(1, 100, [0, 200])

    assert_in_delta 100, scale.call(10)
    assert_equal [1, 10, 100], scale.ticks
  end

  def test_log_scale_of_a_narrow_range_still_has_ticks
    ticks = Scales::Log.new(103, 117, [0, 200]).ticks

    assert_operator ticks.length, :>=, 3
    assert(ticks.all? { |tick| tick.between?(103, 117) })
  end

  def test_log_scale_ends_at_its_axis_what_reaches_to_zero
    assert_in_delta 0, Scales::Log.new(1, 100, [0, 200]).call(0)
  end

  def test_an_interval_of_few_runs_stretches_a_scale_only_so_far
    assert_equal [50.0, 60.0, 25.0, 120.0], Scales.with_intervals([50.0, 60.0], [0.05, 38_797])
    assert_in_delta 200, Scales::Linear.new(0, 10, [0, 200]).within(38_797)
  end

  def test_nines_give_each_further_nine_the_same_room
    scale = Scales::Nines.new(0, 99.9, [0, 300])

    assert_in_delta 100, scale.call(90)
    assert_in_delta 200, scale.call(99)
    assert_equal [0, 50, 90, 99, 99.9], scale.ticks
  end

  def test_labels_keep_their_distance_and_the_last_one_stays
    kept = Charts::Axis.apart([[0, "1"], [10, "2"], [50, "3"], [60, "4"], [100, "5"]])
    assert_equal %w[2 4 5], kept.map(&:last)
  end

  def test_a_line_never_crosses_a_missing_value
    scale = Scales::Linear.new(0, 4, [0, 4])
    points = [[0, 1], [1, 2], [2, nil], [3, 3], [4, 4]].map { |x, y| Point.new(x, y) }
    line = Charts::Series.new(points, slot: 0, x: scale, y: scale).line

    assert_includes line, "M0 1L1 2M3 3L4 4"
  end

  def test_nothing_is_drawn_of_nothing
    scale = Scales::Linear.new(0, 4, [0, 4])
    assert_empty Charts::Series.new([Point.new(1, nil)], slot: 0, x: scale, y: scale).to_svg
  end

  def test_an_interval_is_drawn_where_there_is_one
    scale = Scales::Linear.new(0, 10, [0, 10])
    svg = Charts::Series.new([Point.new(5, 5, 4, 7, "five & more")], slot: 1, x: scale, y: scale).to_svg

    assert_includes svg, %(class="whisker s2" d="M2 4h6M5 4V7M2 7h6")
    assert_includes svg, "<title>five &amp; more</title>"
  end

  def test_percentiles_mark_and_describe_the_ones_that_people_know
    line = Charts::Percentiles.line("a & b", { 0 => 500_000, 45 => 900_000, 50 => 1_000_000, 99 => 20_000_000 })
    figure = Charts::Percentiles.new([line]).described("Caption", "Title", [line])

    texts = figure.scan(/<path[^>]*><title>([^<]+)/).flatten
    assert_equal ["a &amp; b: p50 1.00 ms", "a &amp; b: p99 20.0 ms"], texts
    assert_includes figure, "<desc>a &amp; b: p50 1.00 ms, p99 20.0 ms.</desc>"
    assert_equal %w[least p50 p90 p99], figure.scan(/class="tick middle"[^>]*>([^<]+)/).flatten
  end

  def test_a_timeline_begins_at_zero_and_has_no_marks
    lines = [Charts::Lines::Line.new("rate", [Point.new(0.5, 10), Point.new(1.5, 20), Point.new(7.5, 30)])]
    figure = Charts::Timeline.new(lines, unit: "second", log: false) { |value| "#{value.to_i}/s" }
                             .panel("Rate", "Rate over time", "It grows.", lines)

    assert_equal %w[0 2 4 6 8], figure.scan(/class="tick middle"[^>]*>([^<]+)/).flatten
    refute_includes figure[/<svg viewBox="0 0 360.*/m], "marker"
  end

  def test_rows_of_estimates_need_no_class_of_their_own
    estimate = Struct.new(:value, :low, :high).new(20.0, 15.0, 25.0)
    item = Charts::Rows::Item.new(name: "one", figure: "20", value: estimate, slot: 0, text: "one: 20")
    figure = Charts::Rows.new("Heading", "unit", [item]) { |tick| "#{tick.to_i} u" }.to_html("Title")

    assert_equal ["0 u", "10 u", "20 u", "30 u"], figure.scan(/class="tick middle"[^>]*>([^<]+)/).flatten
    assert_nil Charts::Rows.new("Heading", "unit", []).to_html("Title")
  end

  def test_bars_begin_at_zero_and_their_level_is_a_line_across_each
    svg = Charts::Bars.new("Heading", "unit", [item("one", 20.0), item("two", 40.0, slot: 1)],
                           level: item("least", 10.0), &:to_s).to_file
    bars = svg.scan(/class="bar (s\d)" d="M([\d.]+) [\d.]+h([\d.]+)v/)
    levels = svg.scan(/class="level" d="M([\d.]+) /).flatten

    assert_equal %w[least one two], svg.scan(%r{class="name"[^>]*>([^<]+)<title}).flatten
    assert_equal [%w[s1 14], %w[s2 14]], bars.map { |slot, left, _| [slot, left] }
    one, two = bars.map { |_, _, width| width.to_f }
    assert_in_delta 2 * one, two, 0.2
    assert_equal 3, levels.length
    levels.each { |x| assert_in_delta 14 + (one / 2), x.to_f, 0.1 }
    assert_equal 3, svg.scan('class="whisker').length
  end

  def test_a_bar_that_leaves_the_others_no_room_has_a_gap
    draw = ->(longest) { Charts::Bars.new("", "", [item("one", 20.0), item("two", longest)], &:to_s).to_file }
    widths = ->(svg) { svg.scan(/class="bar s1" d="M14 [\d.]+h([\d.]+)v/).flatten.map(&:to_f) }

    svg = draw.call(100.0)
    assert_equal %w[0.0 5.0 10.0 15.0 20.0 25.0], svg.scan(/class="tick middle"[^>]*>([^<]+)/).flatten
    assert_in_delta 332 * 20 / 25.0, widths.call(svg)[0], 0.1
    assert_in_delta 332, widths.call(svg)[1], 0.1
    assert_equal [1, 1], [svg.scan('class="gap"').length, svg.scan('class="whisker').length]
    assert_equal [0, 2], [draw.call(40.0).scan('class="gap"').length, draw.call(40.0).scan('class="whisker').length]
  end

  def test_a_file_has_its_style_its_size_and_a_background
    chart = Charts::Bars.new("Heading", "unit", [item("a & b", 20.0)], &:to_s)
    svg = chart.to_file

    assert svg.start_with?(%(<svg viewBox="0 0 360 76" role="img" aria-label="Heading. a &amp; b: 20.0." ))
    assert_includes svg, %( xmlns="http://www.w3.org/2000/svg" width="480" height="101.3">)
    assert_includes svg, "prefers-color-scheme: dark"
    assert_operator svg.index(%(<rect class="sheet")), :<, svg.index(%(class="grid"))
    refute_includes chart.to_html("Title"), "xmlns"
    assert_nil Charts::Bars.new("Heading", "unit", []).to_file
  end

  def test_series_differ_in_more_than_colour
    shapes = (0..4).map { |slot| Charts::Marker.at(0, 0, slot)[/d="([^"]+)"/, 1] }
    assert_equal shapes.uniq, shapes
  end

  private

  def item(name, value, slot: 0)
    estimate = Struct.new(:value, :low, :high).new(value, value * 0.9, value * 1.1)
    Charts::Rows::Item.new(name: name, figure: value.to_s, value: estimate, slot: slot, text: name)
  end
end
