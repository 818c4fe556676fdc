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

  # From one lab to the other: rates of c1, or { configuration => rates }. The first Change.
  def changes_of(*samples)
    results = samples.map do |rates|
      lab = ReportedLab.new(closed: [5], rates: [])
      read(directory(lines: [lab.header, *runs(rates.is_a?(Hash) ? rates : { "c1" => rates })])).first
    end
    Cuttle::Lab::Analysis::Changes.new(*results).to_a.first
  end

  def runs(rates)
    rates.flat_map do |configuration, values|
      values.each_with_index.map do |rate, block|
        { "type" => "run", "configuration" => configuration, "load" => "l1", "block" => block, "valid" => true,
          "rate" => rate }
      end
    end
  end

  # The more is compared, the larger a difference must be.
  def test_the_detectable_change_is_for_the_level_of_the_test
    one, other = [100, 101, 102, 103], [101, 102, 103, 100]
    alone = changes_of(one, other)
    many = changes_of({ "c1" => one, "c2" => one, "c3" => one }, { "c1" => other, "c2" => other, "c3" => other })
    levels = [0.05, 0.05 / 3].map { |level| Cuttle::Lab::Statistics::Power.noncentrality(6, level, 0.9) }

    assert_in_delta levels[1] / levels[0], Math.log(1 + many.detectable) / Math.log(1 + alone.detectable), 1e-6
  end

  # The ratio is 15, and anything between a hundredth and ten thousand would have been no surprise.
  def test_what_scatters_too_much_to_be_compared_is_not_called_alike
    one, other = changes_of([10, 1000, 5], [500, 20, 17_000]), changes_of([100, 140, 90], [110, 150, 80])

    assert_equal [true, true], [one, other].map(&:undecided?)
    refute_predicate changes_of([100, 101, 102], [101, 102, 100]), :undecided?
    assert_match(/too few runs to tell$/, Cuttle::Lab::Report::Changes.verdict(one))
  end

  def test_errors_are_not_compared
    lines = ReportedLab.new(closed: [5], rates: [], clean: true).lines
    failing = lines.map do |line|
      line.values_at("type", "configuration") == %w[run c1] ? line.merge("errors" => { "status_5xx" => 100 }) : line
    end
    changes = Cuttle::Lab::Analysis::Changes.new(*[lines, failing].map { |each| read(directory(lines: each)).first })

    assert_equal 12, changes.to_a.length
    assert_includes render(changes), "! single at 5 connections is not compared: in B, 1% of its requests or more"
  end

  # The layout of memory alone can cause as much.
  def test_less_than_a_percent_is_no_difference
    change = changes_of([1000.0, 1000.1, 1000.2], [1003.0, 1003.1, 1003.2])

    assert_operator change.p, :<, 0.001
    refute_predicate change, :different?
    assert_in_delta 0.01, change.detectable
    assert_predicate changes_of([1000.0, 1000.1, 1000.2], [1013.0, 1013.1, 1013.2]), :different?
  end

  def test_one_run_each_gives_the_ratio_and_nothing_more
    change = changes_of([100], [150])

    assert_in_delta 1.5, change.ratio.value
    assert_nil change.ratio.low
    refute_predicate change, :different?
  end

  # The same names, but what they name is not the same.
  def test_only_what_is_the_same_is_compared
    one, other = Array.new(2) { ReportedLab.new(closed: [5, 20], rates: [50], clean: true) }
    other.header["configurations"][0] = other.header["configurations"][0].merge("keep_alive" => false)
    other.header["loads"][2] = other.header["loads"][2].merge("poisson" => false, "delay" => 0.02)
    other.header["loads"][1] = other.header["loads"][1].merge("name" => "21 connections")
    changes = Cuttle::Lab::Analysis::Changes.new(*[one, other].map { |lab| read(directory(lines: lab.lines)).first })
    said = render(changes)

    assert_equal [["5 connections"], 12], [changes.to_a.map { |each| each.load.name }.uniq, changes.to_a.length]
    refute_includes changes.to_a.map { |each| each.configuration.name }, "single"
    assert_includes said, "! single is not the same in both labs: keep-alive (on and off)"
    assert_includes said, "! 50/s is not the same in both labs: poisson (on and off), delay (none and 0.02)"
    assert_match(/^! only A has 20 connections\n! only B has 21 connections$/, said)
  end

  def test_labs_of_different_requests_are_not_compared
    labs = Array.new(2) { |seed| read(directory(seed: seed)).first }
    changes = Cuttle::Lab::Analysis::Changes.new(*labs, requests: [{ "path" => "/" }, { "path" => "/slow" }])

    assert_empty changes.to_a
    assert_includes render(changes), "The labs sent different requests, so they can't be compared: path (/ and /slow)."
  end

  def test_labs_of_different_apps_are_not_compared
    apps = [{ "name" => "work", "profile" => { "cpu_ms" => 2 } }, { "name" => "hello" }, { "name" => "old/config.ru" },
            { "name" => "new/config.ru" }]
    work, hello, old, new = apps.map do |app|
      lab = ReportedLab.new(rounds: 2, closed: [5], rates: [], clean: true)
      read(directory(lines: [lab.header.merge("app" => app), *lab.lines.drop(1)])).first
    end

    assert_equal %w[app profile], Cuttle::Lab::Analysis::Changes.new(work, hello).common.apart.keys
    assert_empty Cuttle::Lab::Analysis::Changes.new(work, old).to_a
    refute_empty Cuttle::Lab::Analysis::Changes.new(old, new).to_a
  end

  def test_other_differences_between_the_labs_are_named
    one = ReportedLab.new
    other = ReportedLab.new(names: { "c1" => "alone" })
    other.header["environment"].update("ruby" => "4.0.5", "system_call" => 1e-7)
    labs = [one, other].map { |lab| read(directory(lines: lab.lines)).first }
    said = render(Cuttle::Lab::Analysis::Changes.new(*labs))

    assert_includes said, "! the labs differ in ruby: 3.1.2 and 4.0.5"
    refute_includes said, "system_call"
    assert_includes said, "! only A has single"
    assert_includes said, "! only B has alone"
  end

  def test_what_only_one_lab_could_measure_is_named
    lines = ReportedLab.new(closed: [5], rates: [], clean: true).lines
    one, all = [%w[c1], nil].map do |ids|
      other = lines.map do |line|
        broken = line["type"] == "run" && (ids.nil? || ids.include?(line["configuration"]))
        broken ? line.merge("valid" => false) : line
      end
      labs = [lines, other].map { |each| read(directory(lines: each)).first }
      render(Cuttle::Lab::Analysis::Changes.new(*labs))
    end

    assert_includes one, "! single at 5 connections is not compared: B has no valid figure of it"
    assert_includes all, "Nothing that the labs have in common has valid figures in both."
  end

  def test_the_rubies_of_the_servers_are_named
    one, other = Array.new(2) { ReportedLab.new(closed: [5], rates: [], clean: true) }
    other.header["configurations"].map! { |each| each.merge("ruby" => "4.0.5", "ruby_path" => "/opt/ruby") }
    labs = [one, other].map { |lab| read(directory(lines: lab.lines)).first }

    assert_match(/^! the labs differ in Ruby of the servers: .* and 4\.0\.5$/,
                 render(Cuttle::Lab::Analysis::Changes.new(*labs)))
  end

  def test_a_profile_from_the_command_line_is_the_same
    labs = [{ "cpu_ms" => 2 }, { "cpu_ms" => "2" }].map do |profile|
      lab = ReportedLab.new(rounds: 2, closed: [5], rates: [], clean: true)
      app = { "name" => "work", "profile" => profile }
      read(directory(lines: [lab.header.merge("app" => app), *lab.lines.drop(1)])).first
    end
    changes = Cuttle::Lab::Analysis::Changes.new(*labs)

    refute_empty changes.to_a
    refute_includes render(changes), "profile"
  end
end
