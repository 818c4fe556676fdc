# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"
require_relative "../../benchmark/support/tuning"
require_relative "../../benchmark/support/tuning_findings"
require_relative "../lab/support/synthetic_lab"
require_relative "../tuner/support/made_up"

# How right a tune was: its figures beside a grid that never ran.
class TestBenchmarkTuning < Minitest::Test
  include MadeUp
  include TemporaryDirectory

  Estimate = Cuttle::Lab::Statistics::Estimate
  CHOICE = Cuttle::Tuner::Setting.new(threads: 5)
  OTHER = Cuttle::Tuner::Setting.new(workers: 2, threads: 3)
  STRANGER = Cuttle::Tuner::Setting.new(threads: 1)
  RATE = 35.0

  # The measured choice has narrow intervals, the predicted alternative those of the margin.
  def findings(grid = { CHOICE => [100.0, 100.0], OTHER => [101.0, 100.0] }, seconds: 10.0, choice: measured(100.0))
    advice = Tuner::Advice.new(choice: choice, present: nil, here: 1,
                               alternatives: [outcome(OTHER, capacity: 100, p95: 0.1, demand: demand)])
    corrected = profile(corrections: [{ "setting" => CHOICE.to_h, "demand" => demand.to_h, "forecast" => {},
                                        "measured" => {} }])
    Bench::Tuning::Findings.new(advice, corrected, verified(grid, rate: RATE).results, seconds, model: model)
  end

  # Keeps the corrections that it was asked to consider.
  def model
    lambda do |profile|
      @corrections = profile.corrections
      Plain.new
    end
  end

  def measured(capacity)
    around = ->(value) { Estimate.new(value, value * 0.98, value * 1.02, 5) }
    predicted = outcome(CHOICE, capacity: capacity, demand: demand)
    Tuner::Outcome.new(**predicted.to_h, capacity: around[capacity], p50: around[0.05], p95: around[0.1],
                                         p99: around[0.14], measured: true)
  end

  def demand
    Tuner::Demand.open(RATE)
  end

  def figure(value, low, high, found, found_low = found, found_high = found)
    Bench::Tuning::Figure.new(CHOICE, :predicted, :capacity, Estimate.new(value, low, high, nil),
                              Estimate.new(found, found_low, found_high, 5))
  end

  def test_the_choice_is_compared_with_the_best_of_the_grid
    text = findings.to_s
    assert_match(/^choice: hybrid -t 5 serves (99|100)\.\d\/s, 9[89]\.\d% of the best of 2 settings, hybrid -w 2 -t 3 /,
                 text)
    assert_in_delta 0.99, findings.share, 0.02
    assert_in_delta 0.5, findings({ CHOICE => [50.0, 100.0], OTHER => [100.0, 100.0] }).share, 0.02
  end

  # Its answer rests on a part of the measurements.
  def test_an_interrupted_tune_is_continued
    folder = Tuner::Folder.create(Tuner::Options.new(directory: "#{@directory}/tune/work/tune"))
    results = folder.at("verification/1/#{Cuttle::Lab::Results::Store::FILE}")
    FileUtils.mkdir_p(File.dirname(results))
    File.write(results, "#{JSON.generate(lab_header([CHOICE], RATE, 3, 8))}\n")
    folder.write(Tuner::Advice::FILE, {})
    assert_equal "of a session", tuned
    File.write(results, "#{JSON.generate("type" => "end", "interrupted" => false)}\n", mode: "a")
    assert_equal "kept", tuned
  end

  # Whose advice it is.
  def tuned
    session = Struct.new(:run, :interrupted?).new("of a session", false)
    tuning = Bench::Tuning.new("work", app: "work", results: @directory, out: nil)
    Tuner::Session.stub(:new, session) { Tuner::Advice.stub(:read, "kept") { tuning.send(:tuned).first } }
  end

  # 20 runs of 1 s and 0.5 s of warm-up, and 10 starts of 0.5 s.
  def test_the_cost_is_a_share_of_the_grids
    assert_in_delta 10 / 35.0, findings.cost
    assert_match(/^cost: the tune took 10 s, 29% of the grid's 35 s \(aim: at most 10%\)$/, findings.to_s)
    assert_nil findings(seconds: nil).cost
  end

  def test_a_choice_without_a_valid_run_is_named
    lacking = findings({ OTHER => [100.0, 100.0] })
    assert_nil lacking.share
    assert_match(/^choice: the grid has no valid run of hybrid -t 5$/, lacking.to_s)
  end

  def test_predictions_are_those_of_the_profile_alone
    found = findings({ CHOICE => [44.0, 320.0], OTHER => [50.0, 133.3] })
    rate, p95 = found.figures.select { |figure| figure.setting == CHOICE && %i[rate p95].include?(figure.kind) }
    assert_empty @corrections
    assert_equal 40.0, rate.told.value
    assert_in_delta 44, rate.found.value, 0.5
    assert_in_delta 0.32, p95.told.value
    assert_match(/^rate: 2 figures; off by [45]\.\d% in the median \(aim: 5%\), (9|10)\.\d% at most; /, found.to_s)
    assert_match(/^p95: 2 figures; off by \d\.\d% in the median \(aim: 15%\), .* \(aim: 90%\), /, found.to_s)
  end

  # Four figures of each setting in the answer.
  def test_the_answers_own_intervals_are_compared
    assert_match(/^answer, measured: 4 figures; .*; 100% of the intervals hold \(aim: 90%\), 100%/, findings.to_s)
    assert_match(/^answer, predicted: 4 figures; /, findings.to_s)
    wrong = findings({ CHOICE => [80.0, 130.0], OTHER => [100.0, 100.0] })
    assert_match(/^answer, measured: 4 figures; .*; 0% of the intervals hold \(aim: 90%\), 0% contain/, wrong.to_s)
  end

  def test_settings_that_the_grid_lacks_are_not_compared
    choice = findings({ CHOICE => [100.0, 100.0], STRANGER => [20.0, 100.0] })
    refute_match(/^answer, predicted/, choice.to_s)
  end

  # An answer for another rate says nothing of response times at the grid's.
  def test_response_times_at_another_rate_are_not_compared
    elsewhere = Tuner::Outcome.new(**measured(100.0).to_h, demand: Tuner::Demand.open(50.0))
    refute_match(/^answer, measured/, findings(choice: elsewhere).to_s)
  end

  def test_an_interval_holds_as_far_as_the_grid_can_show
    assert_predicate figure(100.0, 95.0, 105.0, 104.0), :held?
    refute_predicate figure(100.0, 95.0, 105.0, 106.0), :held?
    refute_predicate figure(100.0, 95.0, 105.0, 94.0), :held?
    wide = figure(100.0, 95.0, 105.0, 106.0, 101.0, 111.0)
    assert_predicate wide, :held?
    refute_predicate wide, :within?
    refute_predicate figure(100.0, 95.0, 105.0, 108.0, 103.0, 113.0), :held?, "both ends meet, but that is no chance"
    assert_in_delta Math.log(1.06), wide.miss
  end

  def test_several_apps_are_summed_up_by_the_worst_and_by_all
    good, bad = findings, findings({ CHOICE => [50.0, 130.0], OTHER => [100.0, 100.0] }, seconds: 20.0)
    text = Bench::Tuning::Summary.new({ "good" => good, "bad" => bad }).to_s
    assert_match(/^== 2 apps$/, text)
    assert_match(/^choice: at least (49|50)\.\d% of the best \(bad; aim: at least 97%\)$/, text)
    assert_match(/^cost: at most 57\.1% of the grid's \(bad; aim: at most 10%\)$/, text)
    assert_match(/^rate: 4 figures; /, text)
    assert_match(/^answer, measured: 8 figures; .*; 50% of the intervals hold/, text)
    assert_empty Bench::Tuning::Summary.new({ "good" => good }).to_s
  end
end
