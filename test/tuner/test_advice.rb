# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require_relative "../lab/support/synthetic_lab"
require_relative "support/made_up"

# From a profile and a verification to an answer.
class TestAdvice < Minitest::Test
  include MadeUp
  include TemporaryDirectory

  HAVE = Cuttle::Tuner::Setting.new(threads: 3)
  # What the plain model takes for the best on one core.
  BEST = Cuttle::Tuner::Setting.new(workers: 2, threads: 3)
  # A database connection for each thread.
  HELD = { "process" => 0, "thread" => 1 }.freeze

  def advice(verified = nil, present: HAVE, limits: {}, profile: profile(), cores: 1, here: 1, model: Plain, **options)
    given = Tuner::Options.new(limits: Tuner::Limits.new(**limits), present: present, place: "config/cuttle.rb",
                               command: %w[cuttle tune --seed 1], seed: 1, engines: %w[single hybrid], **options)
    Tuner::Advisor.new(given, profile: profile, verified: verified, cores: cores, here: here, model: model.method(:new))
                  .advice(id: "1", taken_at: "2026-11-24T07:00:00.000Z", app: "made up", warnings: [])
  end

  def test_what_is_measurably_better_is_advised
    advice = advice(verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0] }))
    assert_equal [:change, BEST], [advice.kind, advice.choice.setting]
    assert advice.choice.measured
    assert_in_delta 50, advice.choice.capacity.value, 1
    assert_in_delta 5 / 3.0, advice.gains[:capacity].value, 0.05
    assert_operator advice.gains[:capacity].low, :>, 1.5
  end

  # Too few responses have no p99, and no limit is passed for want of it.
  def test_without_a_measured_p99_the_prediction_stands
    predicted = outcome(BEST, capacity: 50, p95: 0.06)
    few = Tuner::Measurement.new(setting: BEST, capacity: predicted.capacity, rounds: 3, p50: predicted.p50,
                                 p95: predicted.p95)
    assert_equal predicted.p99, predicted.confirmed(few).p99
    assert_equal %i[p99], predicted.confirmed(few).excess(Tuner::Limits.new(rate: 10.0, p99: 0.08)).keys
    slow = Tuner::Measurement.new(**few.to_h, p95: outcome(BEST, capacity: 50, p95: 0.5).p95)
    assert_nil predicted.confirmed(slow).p99
    fewer = Tuner::Measurement.new(**few.to_h, p95: nil)
    assert_equal [predicted.p95, predicted.p99], predicted.confirmed(fewer).to_h.values_at(:p95, :p99)
    slower = Tuner::Measurement.new(**fewer.to_h, p50: outcome(BEST, capacity: 50, p95: 0.5).p50)
    assert_equal [nil, nil], predicted.confirmed(slower).to_h.values_at(:p95, :p99)
    assert_lower_bounds_are_held_to_the_limit(predicted, slow, slower)
  end

  # p95 is measured as 0.5 s, or p50 as 0.25 s.
  def assert_lower_bounds_are_held_to_the_limit(predicted, *slow)
    limits = Tuner::Limits.new(rate: 10.0, p99: 0.1)
    slow.zip([[5, "500 ms, 5 times"], [2.5, "250 ms, 2.50 times"]]) do |few, (ratio, said)|
      found = predicted.confirmed(few)
      assert_in_delta ratio, found.excess(limits)[:p99]
      assert_equal "p99 of at least #{said} the limit of 100 ms", Tuner::Report::LimitWords.excess(found, limits)
      assert_equal "p99 of at least #{said[/\A\d+ ms/]}, limit 1.00 s",
                   Tuner::Report::LimitWords.undecided(found, :p99, Tuner::Limits.new(p99: 1.0))
    end
  end

  # It serves 30 of 35 requests a second. In runs of a second, few have to wait for long.
  def test_an_overloaded_setting_keeps_no_limit_of_response_times
    measured = { HAVE => [30.0, 80.0], BEST => [50.0, 90.0] }
    advice = advice(verified(measured), limits: { p99: 0.2 })
    assert_equal [:fits, BEST], [advice.kind, advice.choice.setting]
    assert_equal({ p99: Float::INFINITY }, advice.present.excess(advice.limits))
    assert_includes Tuner::Report::Words.headline(advice), "breaks a limit: p99 without end, over the limit of 200 ms."
    none = advice(verified({ HAVE => [30.0, 80.0] }), limits: { p99: 0.2 }, engines: %w[hybrid], model: Slow)
    assert_equal [:none, %i[p99]], [none.kind, none.excess.keys]
    unknown = Tuner::Outcome.new(**advice.present.to_h, p95: nil, p99: nil)
    assert_equal "p99 without end, over the limit of 200 ms", Tuner::Report::LimitWords.excess(unknown, advice.limits)
  end

  # Each connection of a closed loop has 10 requests a second, however many slots there are.
  class Connected < Plain
    def forecast(setting, demand, cores: nil)
      told = super
      return told if demand.open?

      Cuttle::Tuner::Forecast.new(**told.to_h, rate: [told.capacity, demand.connections * 10.0].min)
    end
  end

  # The verification has 512 connections, which serve 512 * 10 requests a second. 17 workers serve 680 of them, 200
  # workers 8,000.
  def test_a_closed_loop_with_too_few_connections_measures_no_capacity
    small, large, larger = [[17, 4], [200, 100], [400, 100]].map { |numbers| setting("hybrid", *numbers) }
    lab = verified({ small => [680.0, 60.0], large => [5110.0, 60.0], larger => [5120.0, 60.0] }, slots: 10_000)
    assert_equal 512, lab.connections
    given = { present: large, cores: 1000, here: 1000, model: Connected }
    advice = advice(lab, **given)
    assert_equal 8000.0, advice.present.capacity.value
    refute_predicate advice.present, :capacity_measured?
    assert_includes Tuner::Report.text(advice), "at most (measured in 5 rounds, capacity predicted);"
    assert_equal [:change, larger, 2.0], [advice.kind, advice.choice.setting, advice.gains[:capacity].value]
    few = advice(lab, **given, present: small)
    assert_in_delta 680, few.present.capacity.value, 10
    assert_predicate few.present, :capacity_measured?
    more = verified({ large => [8100.0, 60.0] }, slots: 10_000)
    assert_in_delta 8100, advice(more, **given).present.capacity.value, 100, "as measured"
  end

  # Both serve what 512 connections ask for. That says nothing about a difference of their capacities.
  def test_too_few_connections_compare_no_capacities_with_threads_auto
    many, auto = setting("hybrid", 200, 100), auto(200)
    lab = verified({ many => [5110.0, 60.0], auto => [5110.0, 60.0] }, slots: 10_000)
    advice = advice(lab, present: many, cores: 1000, here: 1000, model: Connected)
    refute_nil advice.threads
    assert_nil advice.threads.detectable
  end

  # Verified settings have served 0.6 times what was predicted for them.
  class Corrected < Connected
    def initialize(profile, **)
      super
      @factor = profile.corrections.any? ? 0.6 : 1.0
    end

    def capacity(...)
      rate, limit = super
      [rate * @factor, limit]
    end
  end

  # 5,110 requests a second were served, although the corrected capacity is 4,800.
  def test_a_capacity_is_no_less_than_what_was_served
    large = setting("hybrid", 200, 100)
    nothing = { "setting" => large.to_h, "demand" => { "rate" => 1.0 }, "measured" => {}, "forecast" => {} }
    advice = advice(verified({ large => [5110.0, 60.0] }, slots: 10_000), present: large, cores: 1000, here: 1000,
                                                                          model: Corrected,
                                                                          profile: profile(corrections: [nothing]))
    assert_in_delta 5110, advice.present.capacity.value, 50
  end

  # No setting serves more than 30 requests a second.
  class Slow < Plain
    def capacity(...)
      rate, limit = super
      [[rate, 30.0].min, limit]
    end
  end

  # All are overloaded by the rate of the search, and the longer runs of one have the longer response times.
  def test_response_times_of_overloaded_settings_are_not_compared
    found = verified({ HAVE => [30.0, 300.0], BEST => [30.0, 80.0] }, scatter: 0.02)
    assert_equal :keep, advice(found, model: Slow).kind
  end

  def test_nothing_measurable_is_gained
    advice = advice(verified({ HAVE => [50.0, 60.0], BEST => [50.2, 60.0] }, scatter: 0.05))
    assert_equal [:keep, HAVE, HAVE], [advice.kind, advice.choice.setting, advice.present.setting]
    assert_nil advice.gains
    assert_nil advice.edit
  end

  def test_of_equals_the_cheaper_one_is_advised
    dear = setting("hybrid", 4, 3)
    found = verified({ dear => [50.0, 60.0], BEST => [50.0, 60.0] }, scatter: 0.02)
    found.measurements.transform_values! do |each|
      Tuner::Measurement.new(**each.to_h, memory: each.setting == dear ? 200_000_000 : 100_000_000)
    end
    advice = advice(found, present: dear)
    assert_equal [:cheaper, BEST], [advice.kind, advice.choice.setting]
  end

  # Two workers and three threads are the best number.
  def test_where_threads_auto_lose_nothing_there_is_nothing_to_choose
    auto = auto(2)
    advice = advice(verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0], auto => [49.7, 60.0] }))
    assert_equal [:change, auto], [advice.kind, advice.choice.setting]
    assert_equal [BEST, auto, false], [advice.threads.number.setting, advice.threads.auto.setting, advice.threads.loses]
    assert_operator advice.threads.detectable, :<, 0.05
    assert_equal [[auto, BEST]], of_threads(advice)
    assert(advice.changes.all? { |each| each.outcome.setting.auto? })
  end

  # Pairs of settings with the workers of the choice.
  def of_threads(advice)
    advice.what_ifs.map { |each| [each.from.setting, each.to.setting] }.select { |from, to| from.beside?(to) }
  end

  def test_where_threads_auto_lose_the_number_is_the_answer_beside_the_loss
    auto = auto(2)
    [[45.0, 60.0, -0.1], [50.0, 75.0, 0.0]].each do |capacity, p95, change|
      advice = advice(verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0], auto => [capacity, p95] }))
      assert_equal BEST, advice.choice.setting
      assert advice.threads.loses
      lost = advice.what_ifs.find { |each| each.to.setting == auto }
      assert lost.from.measured && lost.to.measured
      assert_in_delta change, (lost.to.capacity.value / lost.from.capacity.value) - 1, 0.02
    end
  end

  # They took 40% more.
  def test_threads_auto_that_need_more_memory_lose
    auto = auto(2)
    found = verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0], auto => [50.0, 60.0] })
    found.measurements.transform_values! do |each|
      Tuner::Measurement.new(**each.to_h, memory: each.setting == auto ? 140_000_000 : 100_000_000)
    end
    assert_equal BEST, advice(found).choice.setting
  end

  # The difference is a fifth, but three rounds with such scatter can't distinguish it from chance.
  def test_what_is_undecided_speaks_for_the_number
    auto = auto(2)
    found = verified({ BEST => [50.0, 60.0], auto => [35.0, 60.0] }, scatter: 0.5, rounds: 3)
    refute found.compare(BEST, auto)[:capacity].different?
    assert_equal BEST, advice(found, present: nil).choice.setting
  end

  def test_a_number_that_is_as_good_stays
    four = setting("hybrid", 2, 4)
    advice = advice(verified({ four => [50.0, 60.0], auto(2) => [50.1, 60.0] }, scatter: 0.05), present: four)
    assert_equal [:keep, four], [advice.kind, advice.choice.setting]
    refute advice.threads.loses
  end

  def test_threads_auto_stay_unless_they_measurably_lose
    auto = auto(2)
    advice = advice(verified({ auto => [49.0, 60.0], BEST => [50.0, 60.0] }), present: auto)
    assert_equal [:keep, auto], [advice.kind, advice.choice.setting]
    advice = advice(verified({ auto => [40.0, 60.0], BEST => [50.0, 60.0] }), present: auto)
    assert_equal [:change, BEST], [advice.kind, advice.choice.setting]
  end

  # The model treats auto as a number, so it can't decide which is better.
  def test_no_prediction_speaks_for_or_against_threads_auto
    assert_equal BEST, advice(present: nil).choice.setting
    keep = advice(present: auto(2))
    assert_equal [:keep, auto(2)], [keep.kind, keep.choice.setting]
    assert_nil keep.threads
    assert_equal [[auto(2), setting("hybrid", 2, Plain::AUTO)]], of_threads(keep)
    assert_equal auto(2), advice(present: auto).choice.setting, "with other workers"
    fits = advice(present: auto(2), limits: { connections: 20 }, profile: profile(connections: HELD))
    assert_equal [:fits, auto(2, 10)], [fits.kind, fits.choice.setting]
  end

  # Without a pool that is known, auto starts five threads; 20 serve 80/s.
  def test_a_prediction_speaks_against_a_limit_of_threads_auto_that_is_too_low
    advice = waits(present: auto)
    assert_equal [:change, auto(0, 20)], [advice.kind, advice.choice.setting]
    assert_equal [auto, 20.0], [advice.capped.setting, advice.capped.capacity.value]
    assert_equal 4.0, advice.gains[:capacity].value
    assert_equal [[auto(0, 20), setting("hybrid", 0, 20)], [auto(0, 20), auto]], of_threads(advice)
    assert_equal [80, 80], advice.map.rows.first(2).map(&:last), "with the limit of the answer"
    refute Tuner::Standing.new(advice, worse: 0.5).good?
    own = waits(present: auto(0, 12))
    assert_equal [:change, auto(0, 20), auto(0, 12)], [own.kind, own.choice.setting, own.capped.setting]
  end

  def waits(verified = nil, **options)
    advice(verified, profile: waiting, model: Waiting, **options)
  end

  # They stay with a number if they have one, and learn why auto would not do.
  def test_a_number_of_threads_stays_where_the_limit_of_threads_auto_is_too_low
    [nil, setting("hybrid", 0, 20)].each do |present|
      advice = waits(present: present)
      assert_equal [setting("hybrid", 0, 20), auto], [advice.choice.setting, advice.capped.setting]
    end
  end

  def test_a_limit_of_threads_auto_that_is_high_enough_stays
    low = waits(present: auto, limits: { rate: 5.0 })
    assert_equal [:keep, auto, nil], [low.kind, low.choice.setting, low.capped]
    assert_equal [20, 40], low.map.rows.first(2).map(&:last)
    enough = waits(present: auto(0, 20))
    assert_equal [:keep, nil], [enough.kind, enough.capped]
    assert_nil advice(present: auto(2)).capped
  end

  def test_measured_threads_auto_get_the_limit_that_they_need
    number, raised = setting("hybrid", 0, 20), auto(0, 20)
    found = { auto => [20.0, 300.0], number => [78.0, 60.0], raised => [78.0, 60.0] }
    advice = waits(verified(found, rate: 56.0), present: auto)
    assert_equal [:change, raised, auto], [advice.kind, advice.choice.setting, advice.capped.setting]
    assert advice.capped.measured
    assert_equal [raised, number, false], [advice.threads.auto.setting, advice.threads.number.setting,
                                           advice.threads.loses]
    advice = waits(verified(found.except(raised), rate: 56.0), present: auto)
    assert_equal [:change, number, auto], [advice.kind, advice.choice.setting, advice.capped.setting]
  end

  # A busy machine: the capacity is four times as high in the middle, and may be the same.
  def test_where_the_measurement_can_not_tell_the_prediction_counts
    number, raised = setting("hybrid", 0, 20), auto(0, 20)
    found = verified({ auto => [20.0, 300.0], number => [78.0, 60.0], raised => [76.0, 60.0] }, rate: 56.0, rounds: 3,
                                                                                                scatter: 1.9)
    assert_predicate found.compare(number, auto)[:capacity], :undecided?
    advice = waits(found, present: auto)
    assert_equal [:change, auto], [advice.kind, advice.capped.setting]
    enough = verified({ auto => [20.0, 300.0], setting("hybrid", 0, 6) => [78.0, 60.0] }, scatter: 1.9, rounds: 3)
    assert_equal :keep, advice(enough, present: auto).kind, "where the limit is high enough"
  end

  # Too few responses were measured for a p95 of the present setting, and its p50 is longer than the predicted p95.
  def test_an_unknown_p95_is_not_compared
    few, other = [auto, setting("hybrid", 0, 20)].map { |each| outcome(each, capacity: 60).to_h.merge(measured: true) }
    present = Tuner::Outcome.new(**few, p95: nil, p99: nil)
    lab = verified({ HAVE => [30.0, 80.0] })
    verdict = Tuner::Verdict.new(present, limits: Tuner::Limits.new, verified: lab) { true }
    assert_equal :keep, verdict.kind(Tuner::Outcome.new(**other))
    assert_nil verdict.gains(Tuner::Outcome.new(**other))[:p95]
  end

  # The model was wrong: further threads help nothing.
  def test_a_measurement_overrules_the_prediction_about_the_limit_of_threads_auto
    found = { auto => [50.0, 60.0], setting("hybrid", 0, 20) => [50.1, 60.0], auto(0, 20) => [50.0, 60.0] }
    advice = waits(verified(found, rate: 35.0, scatter: 0.05), present: auto)
    assert_equal [:keep, auto, nil], [advice.kind, advice.choice.setting, advice.capped]
  end

  def test_threads_auto_are_a_column_of_the_map
    map = advice.map
    assert_equal "auto", map.threads.last
    assert_equal [40, 50], map.rows.map(&:last)
    tight = advice(limits: { connections: 5 }, profile: profile(connections: HELD)).map
    assert_equal [40, nil], tight.rows.map(&:last), "two processes have no four threads each"
  end

  # The corrected model would search at 35/s.
  def test_response_times_are_for_the_rate_of_their_measurement
    advice = advice(verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0] }, rate: 20.0))
    assert_equal [20.0] * 3, [advice, advice.choice, advice.present].map { |each| each.demand.rate }
    assert_in_delta 2.5, advice.headroom, 0.1
  end

  # Neither reaches the 50/s that are predicted of another.
  def test_of_measured_equals_the_cheapest_is_advised_whatever_is_predicted
    dear, cheap = setting("hybrid", 4, 3), setting("hybrid", 2, 4)
    advice = advice(verified({ dear => [45.5, 60.0], cheap => [45.0, 60.0] }), present: nil)
    assert_equal [:best, cheap], [advice.kind, advice.choice.setting]
  end

  def test_a_present_setting_that_breaks_a_limit_is_named
    advice = advice(verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0] }, rate: 40.0), limits: { rate: 40.0 })
    assert_equal [:fits, BEST], [advice.kind, advice.choice.setting]
    assert_in_delta 4 / 3.0, advice.present.excess(advice.limits)[:rate], 0.02
  end

  def test_where_no_setting_keeps_the_limits_the_nearest_is_named
    advice = advice(limits: { memory: 10_000_000 })
    assert_equal :none, advice.kind
    assert_equal({ memory: 3.0 }, advice.excess)
  end

  # Settings whose memory is unknown break no limit of it, but are no alternatives to one that does.
  def test_where_nothing_keeps_the_limits_nothing_is_as_good
    advice = advice(verified({ HAVE => [30.0, 80.0] }), limits: { memory: 1_000_000 }, model: Unweighed)
    assert_equal [:none, []], [advice.kind, advice.alternatives]
  end

  # Both take 100 MB, and one worker is predicted at 30.
  def test_where_no_measured_setting_keeps_the_limits_a_predicted_one_is_advised
    found = verified({ setting("hybrid", 4, 3) => [50.0, 60.0], BEST => [50.0, 60.0] })
    found.measurements.transform_values! { |each| Tuner::Measurement.new(**each.to_h, memory: 100_000_000) }
    advice = advice(found, present: nil, limits: { memory: 50_000_000 })
    assert_equal [:best, 1, false], [advice.kind, advice.choice.setting.processes, advice.choice.measured]
    assert_empty advice.excess
    assert_equal :none, advice(found, limits: { memory: 10_000_000 }).kind
  end

  # It would serve three times as much, if it served at all.
  def test_a_present_setting_whose_requests_fail_is_not_kept
    dear = setting("hybrid", 4, 3)
    found = verified({ dear => [150.0, 20.0], BEST => [50.0, 60.0] }, invalid: { dear => "wrong answers: http 900" })
    assert_equal({ dear => "wrong answers: http 900" }, found.failures)
    advice = advice(found, present: dear)
    assert_equal [:change, BEST, nil], [advice.kind, advice.choice.setting, advice.gains]
    assert_equal "Run #{BEST.name}: your present setting, #{dear.name} (config/cuttle.rb), can't serve this app: " \
                 "wrong answers: http 900.", Tuner::Report::Words.headline(advice)
    refute Tuner::Standing.new(advice, worse: 1.0).good?
    refute_includes [*advice.alternatives.map(&:setting), *advice.what_ifs.map { |each| each.to.setting }], dear
  end

  # The database pool is too small: with all slots in use, requests time out. At the rate of the open loop none does.
  def test_a_setting_that_fails_when_it_is_saturated_is_not_kept
    dear = setting("hybrid", 4, 3)
    found = verified({ dear => [150.0, 20.0], BEST => [50.0, 60.0] }, saturated: { dear => "wrong answers: http 900" })
    assert_equal({ dear => "wrong answers: http 900" }, found.failures)
    assert_equal [:change, BEST], advice(found, present: dear).then { |each| [each.kind, each.choice.setting] }
    better = advice(verified({ HAVE => [30.0, 80.0], dear => [50.0, 20.0] }, saturated: { dear => "status 500" }))
    refute_includes [better.choice, *better.alternatives].map(&:setting), dear
  end

  # As the profile found, with nothing verified.
  def test_an_engine_that_fails_is_not_advised
    picky = profile(unfit: { "hybrid" => "the server died" })
    advice = advice(profile: picky, present: HAVE)
    assert_equal [:change, "single", "the server died"], [advice.kind, advice.choice.setting.engine, advice.failure]
    assert_nil advice.map, "single has no threads"
    none = assert_raises(Tuner::Failure) { advice(profile: profile(unfit: { "hybrid" => "a", "single" => "b" })) }
    assert_equal "no engine serves this app: hybrid: a; single: b", none.message
  end

  # By its forecast it would be the best.
  def test_a_present_setting_is_not_kept_if_its_engine_fails
    fibers = setting("fibers", 2)
    picky = profile(unfit: { "fibers" => "status 500" })
    advice = advice(profile: picky, present: fibers)
    assert_equal [:change, "status 500"], [advice.kind, advice.failure]
    refute_includes [advice.choice, *advice.alternatives, *advice.changes.map(&:outcome)].map(&:setting), fibers
    measured = advice(verified({ fibers => [50.0, 60.0], HAVE => [30.0, 80.0] }), profile: picky, present: fibers)
    assert_equal [:keep, nil], [measured.kind, measured.failure], "its own runs were valid"
  end

  # Its closed loop served more than was predicted, and its open loop had no valid run.
  def test_response_times_without_end_have_no_ratio
    present, choice = outcome(HAVE, capacity: 60, p95: Float::INFINITY), outcome(BEST, capacity: 60)
    refute_predicate present, :overloaded?
    gains = Tuner::Verdict.new(present, limits: Tuner::Limits.new).gains(choice)
    assert_equal [1.0, nil], [gains[:capacity].value, gains[:p95]]
  end

  # That a setting can't be proved says nothing about the app.
  def test_only_runs_that_failed_speak_against_a_setting
    found = verified({ HAVE => [50.0, 60.0], BEST => [50.0, 60.0] }, invalid: { HAVE => "unproved: it should be 3" })
    assert_empty found.failures
  end

  # The plain model without the figures of memory.
  class Unweighed < Plain
    def forecast(...)
      Cuttle::Tuner::Forecast.new(**super.to_h, memory: nil)
    end
  end

  # Response times decide at a rate that both can serve.
  def test_with_a_target_rate_more_capacity_is_no_reason
    found = verified({ HAVE => [30.0, 60.0], BEST => [50.0, 60.0] }, rate: 15.0, scatter: 0.03)
    assert_equal :keep, advice(found, limits: { rate: 15.0 }).kind
    shorter = verified({ HAVE => [30.0, 90.0], BEST => [50.0, 60.0] }, rate: 15.0)
    assert_equal :change, advice(shorter, limits: { rate: 15.0 }).kind
  end

  def test_without_a_setting_there_is_nothing_to_compare_with
    advice = advice(present: nil)
    assert_equal :best, advice.kind
    assert_nil advice.present
    refute advice.choice.measured
  end

  def test_measurements_of_fewer_cores_are_not_taken_for_those_of_more
    advice = advice(verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0] }), cores: 4)
    assert advice.extrapolated?
    refute advice.choice.measured
    assert_operator advice.choice.capacity.value, :>, 100
  end

  def test_neighbours_circumstances_and_the_map
    advice = advice(limits: { rate: 30.0 })
    assert(advice.what_ifs.all? { |each| each.from.setting == advice.choice.setting })
    assert_includes advice.what_ifs.map { |each| each.to.setting.threads }, advice.choice.setting.threads + 1
    assert_equal %i[cores wait rate], advice.changes.map(&:what)
    assert_equal [2, 2, 60.0], advice.changes.map(&:value)
    assert_equal "hybrid", advice.map.engine
    map = advice.map
    assert_equal [map.workers.length, map.threads.length], [map.rows.length, map.rows.first.length]
    refute_includes advice(profile: profile(wait: 0.0)).changes.map(&:what), :wait
    refute_includes advice(cores: Tuner::Limits::CORES).changes.map(&:what), :cores
  end

  # A model that was corrected by half where the best setting is what others are compared with.
  class Halved < Plain
    def capacity(setting, cores: nil)
      rate, limit = super
      [@base == BEST ? rate / 2 : rate, limit]
    end
  end

  def test_predictions_are_corrected_as_the_setting_that_they_are_compared_with
    found = verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0] }, rate: 20.0)
    advice = advice(found, model: Halved)
    assert_in_delta 50, advice.choice.capacity.value, 1, "as measured"
    assert_equal [25.0], advice.what_ifs.map { |each| each.from.capacity.value }.uniq
    assert_equal 25, advice.map.rows.flatten.compact.max
    assert_equal 50, advice.changes.find { |each| each.what == :cores }.outcome.capacity.value
  end

  # A prediction is checked as it was before anything was measured.
  def test_predictions_are_checked
    found = verified({ HAVE => [27.0, 80.0] }, rate: 15.0)
    checks = advice(found).checks
    capacity = checks.find { |each| each.figure == :capacity }
    assert_in_delta 0.9, capacity.ratio, 0.02
    assert_equal %i[capacity p50 p95 p99], checks.map(&:figure)
    refute checks.find { |each| each.figure == :p95 }.then { |each| each.ratio < 1.2 && !each.held? }
  end

  def test_the_file_to_change
    path = File.join(@directory, "cuttle.rb")
    File.write(path, "threads 3\n")
    edit = advice(configuration: path).edit
    assert_equal path, edit["path"]
    assert_includes edit["diff"], "+workers 2"
    assert_nil edit["remark"]
    File.write(path, "threads ENV['N']\n")
    assert_match(/threads depends/, advice(configuration: path).edit["refusal"])
  end

  def test_a_number_in_place_of_workers_auto_is_remarked
    File.write(path = File.join(@directory, "cuttle.rb"), "workers :auto\nthreads 3\n")
    advice = Cuttle::Lab::Machine::Cores.stub(:usable, [0, 1, 2, 3]) { advice(configuration: path) }
    remark = "#{path}:1: workers :auto is a worker for each CPU of a machine; workers 2 is the answer for the cores " \
             "that the server had here (--cores)"
    assert_equal remark, advice.edit["remark"]
    assert_includes Tuner::Report.text(advice), "\n#{remark}\n"
    assert_includes Tuner::Report.html(advice), "<p>#{remark}</p>"
  end

  def test_it_is_read_as_it_was_written
    [advice(verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0] }), limits: { rate: 35.0, p99: 1.0 }),
     advice(verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0], auto(2) => [50.0, 60.0] })), advice(present: auto),
     waits(present: auto),
     advice(present: nil), advice(limits: { memory: 10_000_000 })].each do |advice|
      read = Tuner::Advice.read(advice.write(File.join(@directory, "advice.json")))
      assert_equal advice.to_h, read.to_h
      assert_equal Tuner::Report.text(advice), Tuner::Report.text(read)
      assert_equal advice.choice.setting, read.choice.setting
    end
  end

  # Programs read it.
  def test_its_keys_are_documented
    text = File.read("#{Cuttle::ROOT}/docs/tuning.md")[/^## JSON\n.*?(?=^## )/m]
    found = verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0], auto(2) => [50.0, 60.0] })
    path = File.join(@directory, "cuttle.rb")
    answer = advice(found, limits: { rate: 35.0 }, configuration: path, present: auto(0, 9))
    refute_nil answer.threads
    assert_empty(keys(answer.to_h).uniq.reject { |key| text.include?("`#{key}`") })
    assert_includes text, %("schema": "#{Tuner::Advice::SCHEMA}")
    %w[best change fits cheaper keep none].each { |kind| assert_includes text, "`#{kind}`" }
  end

  def keys(value)
    case value
    when Hash then value.keys.grep_v("schema") + value.values.flat_map { |each| keys(each) }
    when Array then value.flat_map { |each| keys(each) }
    else []
    end
  end

  def test_what_is_no_advice_is_named_in_one_line
    ["", "{", "[]", "{}", '{"schema":"cuttle-advice/1"}'].each do |text|
      File.write(path = File.join(@directory, "a.json"), text)
      assert_match(/not an advice of cuttle tune\z/, assert_raises(Tuner::Failure) { Tuner::Advice.read(path) }.message)
    end
    assert_raises(Tuner::Failure) { Tuner::Advice.read("#{@directory}/none") }
  end

  # Each limit is once below and once above the middle of the interval. Then chance decides on which side it is.
  def test_a_check_can_not_tell_whether_a_limit_within_an_interval_is_kept
    found = verified({ HAVE => [50.0, 80.0], BEST => [50.0, 80.0] }, rate: 20.0, scatter: 0.3)
    { p99: found.measurements[HAVE].p99, rate: found.measurements[HAVE].capacity }.each do |name, measured|
      low, middle, high = measured.low, measured.value, measured.high
      [(low + middle) / 2, (middle + high) / 2].each do |limit|
        standing = standing(found, name => limit)
        assert standing.good?
        assert_match(/\Acan't tell whether hybrid -t 3 keeps a limit: .*#{name == :p99 ? name : "capacity"} .* limit /,
                     standing.doubts.first)
      end
      wrong, right = name == :p99 ? [low * 0.99, high * 1.01] : [high * 1.01, low * 0.99]
      assert_equal [false, []], standing(found, name => wrong).then { |each| [each.good?, each.doubts] }
      assert_equal [true, []], standing(found, name => right).then { |each| [each.good?, each.doubts.grep(/keeps/)] }
    end
  end

  def standing(verified, worse: 0.9, **limits)
    Tuner::Standing.new(advice(verified, limits: limits), worse: worse)
  end

  # It is predicted to serve 30 of 31 requests a second, or a few more.
  def test_a_check_can_not_tell_how_long_requests_wait_where_the_capacity_is_uncertain
    standing = standing(nil, rate: 31.0, p99: 0.5)
    assert standing.good?
    assert_equal [["p99 without end, limit 500 ms"], ["capacity 30.0 (27.8 to 32.4)/s, limit 31.0/s"]],
                 %w[p99 capacity].map { |name| standing.doubts.filter_map { |line| line[/#{name} .*/] } }
    refute standing(nil, rate: 34.0, p99: 0.5).good?
  end

  # One value has no interval.
  def test_a_check_can_not_tell_after_a_single_round
    found = verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0] }, rounds: 1, scatter: 0.0)
    assert_equal [true, ["can't tell whether hybrid -t 3 keeps a limit: p99 112 ms or without end, limit 100 ms"]],
                 standing(found, p99: 0.1).then { |each| [each.good?, each.doubts.first(1)] }
  end

  def test_a_check_can_not_tell_whether_a_share_within_an_interval_is_lost
    found = verified({ HAVE => [40.0, 60.0], BEST => [50.0, 60.0] }, scatter: 0.05)
    gain = advice(found).gains[:capacity]
    assert_operator gain.low, :>, 1
    [gain.low * 0.99, gain.value, gain.high * 1.01].zip([[1, 0], [0, 1], [0, 0]]) do |ratio, told|
      standing = standing(found, worse: 1 - (1 / ratio))
      assert_equal told, [standing.reasons, standing.doubts].map { |lines| lines.grep(/ serves /).length }
    end
  end

  # A difference of a few percent, and of a third or more, would have been detected.
  def test_a_check_can_not_tell_where_little_would_have_been_detected
    calm, busy = [0.02, 0.4].map do |scatter|
      standing(verified({ HAVE => [50.0, 60.0], BEST => [50.0, 60.0] }, scatter: scatter), worse: 0.1)
    end
    assert_equal [true, true, []], [calm.good?, busy.good?, calm.doubts]
    assert_match(/\Acan't tell whether more than 10% is lost: only a difference of \d+\.\d% in capacity would /,
                 busy.doubts.first)
  end

  def test_a_check_passes_or_fails
    worse = advice(verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0] }))
    refute Tuner::Standing.new(worse, worse: 0.1).good?
    assert_equal 1, Tuner::Standing.new(worse, worse: 0.3).reasons.length, "the capacity, and not p95"
    assert Tuner::Standing.new(worse, worse: 0.5).good?
    assert Tuner::Standing.new(advice(verified({ HAVE => [50.0, 60.0], BEST => [50.0, 60.0] }, scatter: 0.05)),
                               worse: 0.0).good?
    fits = advice(verified({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0] }, rate: 40.0), limits: { rate: 40.0 })
    refute Tuner::Standing.new(fits, worse: 1.0).good?
    # The present setting serves the rate with headroom to spare, so only its tail counts.
    enough = verified({ HAVE => [58.0, 80.0], BEST => [90.0, 60.0] }, rate: 40.0)
    reasons = Tuner::Standing.new(advice(enough, limits: { rate: 40.0 }), worse: 0.1).reasons
    assert_equal %w[p95], reasons.map { |reason| reason[/\w+/] }
    none = Tuner::Standing.new(advice(limits: { memory: 10_000_000 }), worse: 1.0)
    assert none.hopeless?
    refute none.good?
  end
end
