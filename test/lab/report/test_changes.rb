# frozen_string_literal: true

require "test_helper"
require_relative "support/report_case"

# Two labs compared.
class TestLabChanges < Minitest::Test
  include ReportCase

  def changes(one, other)
    Cuttle::Lab::Analysis::Changes.new(*[one, other].map { |options| read(directory(**options)).first })
  end

  def render(changes)
    Cuttle::Lab::Report::Changes.render(changes)
  end

  def test_the_same_lab_again_differs_in_nothing
    changes = changes({ seed: 1 }, { seed: 2 })

    assert_equal 13 * 5, changes.to_a.length
    assert_empty changes.to_a.select(&:different?)
    assert_includes render(changes), "no measurable difference ("
  end

  def test_a_slower_lab_is_found_where_the_load_asks_for_all
    changes = changes({ seed: 1 }, { seed: 2, slowdown: 1.2 })
    change = changes.to_a.find { |each| each.configuration.name == "hybrid -t 5" && each.load.connections == 100 }

    assert_predicate change, :different?
    assert_in_delta 1 / 1.2, change.ratio.value, 0.03
    assert change.ratio.value.between?(change.ratio.low, change.ratio.high)
    assert_match(/^hybrid -t 5 +100 connections .*-1\d%, worse$/, render(changes))
  end

  # 1, 2, 4 against 2, 4, 8: on logarithms a shift by one step, with a standard error of sqrt(2 / 3) steps.
  def test_figures_that_can_be_checked_by_hand
    change = changes_of([1, 2, 4], [2, 4, 8])
    reach = 2.776445 * Math.sqrt(2 / 3.0) * Math.log(2) # t with 4 degrees of freedom

    assert_in_delta 2, change.ratio.value, 1e-9
    assert_in_delta Math.exp(Math.log(2) - reach), change.ratio.low, 1e-4
    assert_in_delta Math.exp(Math.log(2) + reach), change.ratio.high, 1e-4
    assert_in_delta 0.2879, change.p, 1e-3
  end

  def changes_of(*samples)
    results = samples.map do |rates|
      lab = ReportedLab.new(closed: [5], rates: [])
      runs = rates.each_with_index.map do |rate, block|
        { "type" => "run", "configuration" => "c1", "load" => "l1", "block" => block, "valid" => true, "rate" => rate }
      end
      read(directory(lines: [lab.header, *runs])).first
    end
    Cuttle::Lab::Analysis::Changes.new(*results).to_a.first
  end

  def test_one_run_each_tells_the_ratio_and_nothing_more
    change = changes_of([100], [150])

    assert_in_delta 1.5, change.ratio.value
    assert_nil change.ratio.low
    refute_predicate change, :different?
  end

  def test_what_else_differs_is_said
    one = ReportedLab.new
    other = ReportedLab.new(names: { "c1" => "alone" })
    other.header["environment"]["ruby"] = "4.0.5"
    labs = [one, other].map { |lab| read(directory(lines: lab.lines)).first }
    said = render(Cuttle::Lab::Analysis::Changes.new(*labs))

    assert_includes said, "! the labs differ in ruby: 3.1.2 and 4.0.5"
    assert_includes said, "! only A has single"
    assert_includes said, "! only B has alone"
  end
end
