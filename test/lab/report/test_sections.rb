# frozen_string_literal: true

require "test_helper"
require_relative "../../report/support/library_copy"

# How to add to the lab's page: a file below lib/cuttle/lab/report/sections/ is all that it takes.
class TestLabReportSections < Minitest::Test
  include LibraryCopy

  # Prints the page of a small lab.
  PAGE = <<~RUBY
    require "lab/report/support/report_case"
    include ReportCase
    directory = Dir.mktmpdir
    lab = ReportedLab.new(rounds: 2, closed: [5], rates: [], clean: true)
    File.write(directory + "/results.jsonl", written(lab.lines))
    puts Cuttle::Lab::Report.html(*read(directory))
    FileUtils.rm_rf(directory)
  RUBY

  SECTION = <<~RUBY
    module Cuttle::Lab::Report::Sections
      register "toy", "A toy", at: 95, lead: "Read it from left to right." do |view|
        tag(:p, "toys: \#{view.loads.length} < 2")
      end

      register("nothing", "Nothing", at: 96) {}
    end
  RUBY

  CHART = <<~RUBY
    module Cuttle::Lab::Report
      module Sections
        class Medians < Charts::Rows
          def initialize(view, load)
            rows = view.rows(load)
            super("Medians", "ms", rows.map { |row| Item.new(name: row.configuration.name, figure: "f", value: row.p50, slot: 0) })
          end

          def label(tick)
            Numbers.short(tick)
          end

          def scale
            @scale ||= Charts::Scales.around(values, ends, ACROSS, log: false)
          end
        end

        register "medians", "Medians", at: 101 do |view|
          grid(view) { |load| Medians.new(view, load).to_html(load.name) }
        end
      end
    end
  RUBY

  def test_add_a_section
    page = with_file("cuttle/lab/report/sections/toy.rb", SECTION, PAGE)
    order = anchors(page)
    assert_equal %w[memory toy], order[order.index("memory"), 2]
    assert_includes page, %(<a href="#toy">A toy</a>)
    assert_includes page, %(<p class="lead">Read it from left to right.</p><p>toys: 1 &lt; 2</p>)
    refute_includes order, "nothing"
  end

  def test_add_a_chart
    page = with_file("cuttle/lab/report/sections/medians.rb", CHART, PAGE)
    order = anchors(page)
    assert_equal %w[runs medians], order[order.index("runs"), 2]
    assert_match(/<svg[^>]*aria-label="Medians/, page[/<section id="medians".*?<\/section>/m])
  end

  private

  def anchors(page)
    page.scan(/<section id="([^"]+)"/).flatten
  end
end
