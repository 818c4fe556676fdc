# frozen_string_literal: true

require "test_helper"
require_relative "../../report/support/library_copy"

# How to add a chart to each study: a file below lib/cuttle/studies/report/charts/ is all that it takes.
class TestStudiesCharts < Minitest::Test
  include LibraryCopy

  CHART = <<~RUBY
    module Cuttle::Studies::Report::Charts
      register "toy", at: 25 do |table, curves, rows|
        ["a toy of \#{table.metrics.join}, \#{curves.length} curves and \#{rows.length} rows", nil]
      end
    end
  RUBY
  FIGURES = <<~RUBY
    table = Cuttle::Studies::Report::Rows::Table.new(["rate"], [])
    puts Cuttle::Studies::Report::Charts::PARTS.to_h.keys.join(" "), Cuttle::Studies::Report::Charts.of(table)
  RUBY

  def test_add_a_chart
    assert_equal "shape lines published toy values\na toy of rate, 0 curves and 0 rows\n",
                 with_file("cuttle/studies/report/charts/toy.rb", CHART, FIGURES)
  end
end
