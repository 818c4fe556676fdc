# frozen_string_literal: true

require "test_helper"
require "stringio"
require_relative "support/studies_case"

require "cuttle/cli"
require "cuttle/cli/study"

# What remains to be measured of studies, and how it is measured in sittings.
class TestStudiesOutstanding < Minitest::Test
  include StudiesCase

  # The results of a measured item, and how they ended.
  Measured = Struct.new(:interrupted, :paused) do
    def results = self
    def interrupted? = interrupted
    def paused? = paused
  end

  def test_what_is_not_kept_is_outstanding
    keep("s0-ab")
    assert_equal({ "s0-sweeps" => ["no results are kept"], "q1-threads" => ["no results are kept"] }, reasons)
  end

  # Kept results need all that is declared now, the control, and the precision.
  def test_what_kept_results_lack
    keep("q1-threads", precision: 0.05, &method(:wild))
    refute_includes reasons(precision: 0.05), "q1-threads", "it has the rounds that this takes"
    keep("q1-threads", &method(:wild))
    assert_equal ["ratios are not known to within 5%"], reasons(precision: 0.05).fetch("q1-threads")
    refute_includes reasons, "q1-threads"
    path = "#{@root}/q1-threads/study.rb"
    File.write(path, File.read(path).sub("[1, 10, 20, 40]", "[5, 1, 10, 20, 40]"))
    assert_equal ["only 10 of the 12 measurements of q1-threads", "no A/A control"], reasons.fetch("q1-threads")
  end

  # The rates that were measured tell how long it takes.
  def test_the_shortest_comes_first
    assert_equal %w[q1-threads s0-sweeps s0-ab], reasons(scale: 0.05).keys
    keep("q1-threads") { |*run| [wild(*run).first / 1000, {}] }
    assert_equal %w[s0-sweeps s0-ab q1-threads], reasons(precision: 0.05, scale: 0.05).keys
  end

  # Without any rate, as long as its requests ask for: 300 of 25 ms, by 1 and by 8 threads, which compute for 5 of these
  # in turn.
  def test_what_was_never_measured_takes_as_long_as_its_requests
    one = study("q1-threads").only(%w[q1]).with(claims: [])
    alone = one.with(entries: one.entries.select { |entry| entry.conditions.first.connections == 40 })
    full, tenth = [1.0, 0.1].map { |scale| outstanding([alone], scale: scale).items.first.seconds }
    assert_in_delta 2 * (7.5 - 1) + (1.5 - 1), full - tenth, 0.1, "with one thread, twice: the control"
  end

  def test_results_that_are_not_complete_are_continued
    directory = lab("q1-threads", blocks: 2).write("#{@directory}/measured/q1-threads/1", ended: false)
    by_this_ruby(directory)
    item = outstanding([study("q1-threads")]).items.first
    assert_equal [directory, 3, true], [item.directory, item.rounds, item.due?]
    assert_nil outstanding([study("q1-threads")], scale: 0.5).items.first.directory, "at another scale"
    assert_nil outstanding([study("q1-threads")], precision: 0.05).items.first.directory, "with another rule"
  end

  def test_results_that_are_complete_only_have_to_be_kept
    directory = by_this_ruby(lab("q1-threads").write("#{@directory}/measured/q1-threads/1"))
    item = outstanding([study("q1-threads")]).items.first
    assert_equal [directory, false], [item.directory, item.due?]
    assert_match(/^q1-threads +no results are kept; measured: cuttle study keep #{directory}$/,
                 sitting([study("q1-threads")]).missing.join("\n"))
  end

  # By another Ruby it would be another study.
  def test_what_was_kept_by_another_ruby_waits_for_that
    keep_by("2.0", study("q1-threads"), &method(:wild))
    item = outstanding([study("q1-threads")], precision: 0.05).items.first
    assert_equal ["2.0", false], [item.ruby, item.due?]
    assert_match(/to be measured by Ruby 2\.0$/, sitting([study("q1-threads")], precision: 0.05).missing.first)
  end

  # At the scale of the kept ones, so that only the Ruby differs.
  def test_claims_are_outstanding_on_each_ruby
    s0 = study("s0-ab")
    keep_by("2.0", s0, scale: 0.1)
    claimed = s0.claimed(%w[s0.8])
    item = outstanding([claimed]).items.first
    assert_equal [["no results are kept by Ruby #{Studies::Outstanding::SERIES}"], Studies::Scale.new(0.1)],
                 [item.reasons, item.scale]
    keep_by(Studies::Outstanding::SERIES, claimed, scale: 0.1)
    assert_empty outstanding([claimed]).items
    assert_equal "Nothing is missing.", sitting([claimed]).missing.join
  end

  def test_a_sitting_measures_what_fits
    measured = []
    sitting = sitting(all, budget: seconds("q1-threads") + 1) { |item, left| measured << [item.study.name, left] }
    assert_equal 0, sitting.run
    assert_equal %w[q1-threads], measured.map(&:first)
    assert_operator measured[0][1], :<=, seconds("q1-threads") + 1
    assert_match(/^3 studies to measure: about \d+ min/, @out.string)
  end

  # Otherwise a study whose first round is longer than the budget would never begin.
  def test_a_sitting_begins_with_something
    measured = []
    sitting(all, budget: 0.5) { |item, _| measured << item.study.name }.run
    assert_equal 1, measured.length
  end

  def test_a_study_that_fails_does_not_keep_the_others_from_it
    measured = []
    sitting(all, budget: 1e6) do |item, _|
      measured << item.study.name
      raise Cuttle::Lab::Failure, "nothing could be measured" if measured.one?
    end.run
    assert_equal 3, measured.length
    assert_match(/^#{measured.first}: nothing could be measured$/, @out.string)
  end

  def test_an_interrupt_ends_a_sitting
    measured = []
    status = sitting(all, budget: 1e6, results: [true, false]) { |item, _| measured << item.study.name }.run
    assert_equal [130, 1], [status, measured.length]
    status = sitting(all, budget: 1e6, results: [true, true]) { |item, _| measured << item.study.name }.run
    assert_equal [0, 4], [status, measured.length], "a pause does not"
  end

  def test_parts_of_a_study_are_refused
    { %w[s0.8 --budget 1m] => "name whole studies: s0-ab, not a part of it",
      %w[missing s0.8] => "name whole studies: s0-ab, not a part of it",
      %w[q5-noise --claims] => "--claims: there is no published claim that this machine can test" }
      .each do |words, message|
        error = assert_raises(Cuttle::UsageError) do
          Cuttle::CLI::Study.new(out: StringIO.new, err: StringIO.new).run(words)
        end
        assert_equal message, error.message
      end
  end

  private

  # Ratios that are not known: each number of threads has another good round.
  def wild(configuration, _load, block)
    [10.0 * [1, 3, 2][(block + configuration["threads"]) % 3], {}]
  end

  def all
    Studies.all(@root)
  end

  def outstanding(studies, **options)
    Studies::Outstanding.new(studies, directory: "#{@directory}/measured", root: @root, **options)
  end

  def reasons(**options)
    outstanding(all, **options).items.to_h { |item| [item.study.name, item.reasons] }
  end

  def seconds(name)
    outstanding(all).items.find { |item| item.study.name == name }.seconds
  end

  # results: whether each was interrupted, and paused.
  def sitting(studies, budget: nil, results: [false, false], **options, &measure)
    again = -> { outstanding(studies, **options) }
    Cuttle::CLI::Study::Sitting.new(again, budget: budget, out: @out = StringIO.new) do |*item|
      measure.call(*item)
      Measured.new(*results)
    end
  end

  # Lets a directory of results be by a series of Ruby; returns it.
  def by_this_ruby(directory, series = Studies::Outstanding::SERIES)
    path = "#{directory}/results.jsonl"
    File.write(path, File.read(path).sub('"environment":{', "\"environment\":{\"ruby\":\"ruby #{series}.5\","))
    directory
  end

  def keep_by(series, study, scale: 1, &value)
    lab = StudiedLab.new(study, scale: scale, &value || method(:served))
    Studies::Archive.take(by_this_ruby(lab.write("#{@directory}/kept/#{series}"), series), @root)
  end
end
