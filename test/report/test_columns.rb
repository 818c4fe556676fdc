# frozen_string_literal: true

require "test_helper"

class TestReportColumns < Minitest::Test
  def align(...)
    Cuttle::Report::Columns.align(...)
  end

  def test_words_begin_and_figures_end_below_each_other
    assert_equal "name  rate  p50\na      950  9.5\nlong    20   10",
                 align([%w[name rate p50], %w[a 950 9.5], %w[long 20 10]])
  end

  def test_several_columns_of_words
    assert_equal "a   1  x\nbb  2  yy", align([%w[a 1 x], %w[bb 2 yy]], left: [0, 2])
  end

  def test_a_row_with_fewer_cells_widens_no_column
    assert_equal "id  on  rate\nr1  b      5\nr2  it was not here",
                 align([%w[id on rate], %w[r1 b 5], ["r2", "it was not here"]], left: 0..1)
  end

  def test_gap_and_least_widths
    assert_equal "a:    1\nbb:   2", align([%w[a: 1], %w[bb: 2]], left: 0..1, gap: " ", least: [5])
  end
end
