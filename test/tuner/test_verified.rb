# frozen_string_literal: true

require "test_helper"
require_relative "../lab/support/synthetic_lab"
require_relative "support/made_up"

# The plan of a verification, what it finds, and what predictions learn from that.
class TestVerified < Minitest::Test
  include MadeUp

  HAVE = Cuttle::Tuner::Setting.new(threads: 3)
  BETTER = Cuttle::Tuner::Setting.new(workers: 2, threads: 4)

  def test_the_plan_has_both_loads_for_each_setting
    tried = Tuner::Verification.new([HAVE, BETTER, setting("single", 2)], rate: 120.0, slots: 10)
    plan = tried.plan(7, tried.sized(3, 2))
    assert_equal 18, plan.length
    assert_equal ["hybrid -t 3", "hybrid -w 2 -t 4", "single -w 2"], plan.configurations.map(&:name)
    closed, open = plan.loads
    assert_equal ["12 connections", false, 12], [closed.name, closed.open?, closed.connections]
    assert_equal ["120.0/s", true, 120.0, true], [open.name, open.open?, open.rate, open.poisson]
    assert_equal [2, 3, 0.5], [plan.duration, plan.rounds, plan.warmup]
  end

  # As what it is, and not as a number of threads: the lab proves it. Threads are started in the warm-up.
  def test_threads_auto_are_verified_as_such
    limited = auto(2, 12)
    tried = Tuner::Verification.new([auto, limited, HAVE], rate: 120.0, slots: 10)
    plan = tried.plan(7, tried.sized(3, 2))
    assert_equal ["hybrid -t auto", "hybrid -w 2 -t auto --max-threads 12", "hybrid -t 3"],
                 plan.configurations.map(&:name)
    assert_equal %w[hybrid-auto hybrid-auto hybrid], plan.configurations.map(&:model)
    assert_equal [nil, %w[--max-threads 12], nil], plan.configurations.map(&:flags)
    assert_empty plan.missing
    assert_equal 1.0, plan.warmup
    assert_equal 0.2, tried.sized(3, 0.2).warmup
    assert_equal [auto, limited, HAVE], plan.configurations.map { |each| Tuner::Verification.setting(each) }
  end

  # With as many requests at once as the limit has connections for.
  def test_fibers_are_verified_within_the_limit_of_connections
    footprint = Tuner::Footprint.new(profile(connections: { "process" => 0, "thread" => 1 }), limit: 10)
    tried = Tuner::Verification.new([fibers = setting("fibers", 2), BETTER], rate: 1.0, slots: 10, footprint: footprint)
    plan = tried.plan(7, tried.sized(3, 2))
    assert_equal [%w[--max-fibers 5], nil], plan.configurations.map(&:flags)
    assert_equal [fibers, BETTER], plan.configurations.map { |each| Tuner::Verification.setting(each) }
  end

  # The number beside it has a pool of connections for each of its threads.
  def test_threads_auto_are_verified_with_the_pool_of_their_rival
    assert_equal [nil, nil, { "RAILS_MAX_THREADS" => "4" }], pools(HAVE, BETTER, auto(2))
    assert_equal [{ "RAILS_MAX_THREADS" => "12" }, nil], pools(auto(2, 12), BETTER)
    assert_equal [nil], pools(auto(2))
    assert_equal [nil, nil, { "RAILS_MAX_THREADS" => "4" }], pools(auto(2), BETTER, auto(2, 4), present: auto(2))
  end

  def pools(*settings, present: nil)
    tried = Tuner::Verification.new(settings, rate: 120.0, slots: 10, present: present)
    tried.plan(7, tried.sized(3, 2)).configurations.map(&:environment)
  end

  # The next tune reads the corrections that this one wrote.
  def test_corrections_of_threads_auto_are_read_again
    corrections = verified({ auto(0, 12) => [33.0, 90.0] }).corrections(Plain.new, cores: 1)
    assert_equal corrections, JSON.parse(JSON.generate(corrections))
    assert_equal({ "engine" => "hybrid", "workers" => 0, "threads" => "auto", "max_threads" => 12 },
                 corrections.first["setting"])
    plain = profile()
    model = Tuner::Model.new(plain.with(corrections: corrections), base: auto(0, 12))
    factor = 33.0 / 40
    assert_in_delta Tuner::Model.new(plain).capacity(auto).first * factor, model.capacity(auto).first, 0.5
  end

  # Four workers took 240 MB in place of the predicted 120; with the other setting's ratio of 1 the mean is 1.41. Auto
  # had not started all of its threads.
  def test_measured_memory_corrects_all_predictions
    four, two = setting("hybrid", 4, 3), setting("hybrid", 2, 3)
    found = verified({ four => [50.0, 60.0], two => [50.0, 60.0], auto(2) => [50.0, 60.0] })
    { four => 240_000_000, two => 60_000_000, auto(2) => 30_000_000 }.each do |setting, memory|
      found.measurements[setting] = Tuner::Measurement.new(**found.measurements[setting].to_h, memory: memory)
    end
    plain = profile
    heavier = plain.with(corrections: found.corrections(Plain.new, cores: 1))
    memory = [plain, heavier].map { |each| Tuner::Footprint.new(each).memory(setting("hybrid", 3, 2)) }
    assert_in_delta Math.sqrt(2), memory.last / memory.first
    lighter = plain.with(corrections: verified({ four => [50.0, 60.0] }).corrections(Plain.new, cores: 1))
    assert_equal memory.first, Tuner::Footprint.new(lighter).memory(setting("hybrid", 3, 2))
  end

  # Connections beyond the slots, but no thousands of them for an engine that takes any number.
  def test_connections_follow_the_slots
    assert_equal 8, Tuner::Verification.new([setting("single")], rate: 1.0, slots: 100).connections
    assert_equal 30, Tuner::Verification.new([setting("fibers")], rate: 1.0, slots: 20).connections
  end

  def test_it_fits_into_its_time
    tried = Tuner::Verification.new([HAVE, BETTER], rate: 1.0, slots: 1, boot: 1.0)
    long, short = [600, 60].map { |budget| tried.size(budget) }
    assert_operator long.duration, :>, short.duration
    assert_operator short.rounds, :>=, 3
    assert_nil tried.size(tried.least - 2)
    assert_equal [3, 0.5, 0.5], tried.size(tried.least).to_a
    [{ rounds: 9 }, { duration: 2.0 }, { rounds: 4, duration: 2.0 }].each do |own|
      assert tried.size(tried.least(**own), **own), own
      assert_nil tried.size(tried.least(**own) - 2, **own), own unless own.length == 2
    end
    assert_operator tried.size(1e5).rounds, :<=, Tuner::Verification::MOST_ROUNDS
  end

  # The lab's time limit holds, but for the rounds that say anything or that the user asked for.
  def test_the_lab_gets_the_budget
    tried = Tuner::Verification.new([HAVE, BETTER], rate: 1.0, slots: 1)
    asked = { nil => 3, 7 => 7 }.map do |rounds, least|
      options = Tuner::Options.new(engines: %w[hybrid], rounds: rounds)
      Cuttle::Lab.stub(:run, ->(lab, **further) { [lab.budget, lab.rounds, further[:least] - least] }) do
        tried.run(options, tried.sized(7, 1), budget: 42, directory: "x", out: nil)
      end
    end
    assert_equal [[42, 7, 0]] * 2, asked
  end

  def test_measurements_are_in_the_tuners_units
    found = verified({ HAVE => [100.0, 80.0], BETTER => [150.0, 60.0] }, scatter: 0.01).measurements
    assert_equal [HAVE, BETTER], found.keys
    assert_in_delta 150, found[BETTER].capacity.value, 2
    assert_in_delta 0.06, found[BETTER].p95.value, 0.001
    assert_operator found[BETTER].p95.low, :<, found[BETTER].p95.high
    assert_equal [30_000_000, 5], found[BETTER].to_h.values_at(:memory, :rounds)
  end

  def test_comparisons_are_the_labs
    verified = verified({ HAVE => [100.0, 80.0], BETTER => [150.0, 60.0] })
    compared = verified.compare(BETTER, HAVE)
    assert compared[:capacity].better?
    assert compared[:p95].better?
    assert_in_delta 1.5, compared[:capacity].ratio.value, 0.05
    same = verified({ HAVE => [100.0, 80.0], BETTER => [100.1, 80.0] }, scatter: 0.1)
    refute same.compare(BETTER, HAVE)[:capacity].better?
    assert_equal [nil, nil], verified.compare(setting("single"), HAVE).values
  end

  def test_invalid_runs_are_no_measurement
    verified = verified({ HAVE => [100.0, 80.0], BETTER => [150.0, 60.0] },
                        invalid: { BETTER => "wrong answers: status_5xx 7" })
    assert_equal [HAVE], verified.measurements.keys
    assert_equal ["wrong answers: status_5xx 7"], verified.troubles
  end

  # Each load of each setting, as JSON has it, so that the next tune reads what this one wrote.
  def test_corrections_have_the_models_forecast_beside_the_measurement
    corrections = verified({ HAVE => [33.0, 90.0] }).corrections(Plain.new, cores: 1)
    closed, open = corrections
    assert_equal corrections, JSON.parse(JSON.generate(corrections))
    assert_equal({ "engine" => "hybrid", "workers" => 0, "threads" => 3 }, closed["setting"])
    assert_in_delta 30, closed["forecast"]["rate"]
    assert_in_delta 30, closed["forecast"]["capacity"]
    assert_in_delta 33, closed["measured"]["rate"], 0.5
    assert_equal [8, nil], closed["demand"].values_at("connections", "rate")
    assert_equal 35.0, open["demand"]["rate"]
    assert_nil open["forecast"]["p95"], "without end"
  end

  def test_the_model_follows_its_corrections
    plain = profile()
    model = Tuner::Model.new(plain)
    rate = model.capacity(HAVE).first
    corrections = verified({ HAVE => [rate * 0.9, 90.0] }, rate: rate / 2, scatter: 0.0).corrections(model, cores: 1)
    corrected = Tuner::Model.new(plain.with(corrections: corrections))
    assert_in_delta rate * 0.9, corrected.capacity(HAVE).first, rate * 0.03
    assert_in_delta 0.09, corrected.forecast(HAVE, Tuner::Demand.open(rate / 2)).p95, 0.001
  end

  # The rate is beyond the predicted capacity, but not beyond the measured one.
  def test_open_loops_are_corrected_after_their_capacity
    plain = profile()
    model = Tuner::Model.new(plain)
    rate = model.capacity(HAVE).first
    measured = { HAVE => [rate * 1.2, 90.0], BETTER => [rate * 1.3, 120.0] }
    corrections = verified(measured, rate: rate * 1.1, scatter: 0.0).corrections(model, cores: 1)
    measured.each do |setting, (_, p95)|
      corrected = Tuner::Model.new(plain.with(corrections: corrections), base: setting)
      assert_in_delta p95 / 1000, corrected.forecast(setting, Tuner::Demand.open(rate * 1.1)).p95, 0.001
    end
  end

  # Fibers takes more requests than any verification has connections.
  def test_the_capacity_of_fibers_is_corrected
    plain = profile()
    model = Tuner::Model.new(plain)
    rate = model.capacity(setting("fibers")).first
    found = verified({ setting("fibers") => [rate * 0.8, 90.0] }, rate: rate / 2, scatter: 0.0, slots: 20)
    corrected = Tuner::Model.new(plain.with(corrections: found.corrections(model, cores: 1)))
    assert_in_delta rate * 0.8, corrected.capacity(setting("fibers")).first, rate * 0.03
  end

  # Each figure has a correction of its own; a higher percentile is never shorter for that.
  def test_corrected_percentiles_stay_in_order
    plain = profile()
    demand = Tuner::Demand.open(Tuner::Model.new(plain).capacity(HAVE).first / 4)
    off = { "setting" => HAVE.to_h, "demand" => demand.to_h, "forecast" => { "p50" => 0.02, "p95" => 0.04 },
            "measured" => { "p50" => 0.2, "p95" => 0.01 } }
    forecast = Tuner::Model.new(plain.with(corrections: [off])).forecast(HAVE, demand)
    assert_operator forecast.p50, :<=, forecast.p95
    assert_operator forecast.p95, :<=, forecast.p99
  end

  def test_margins_widen_where_predictions_missed
    calm = Tuner::Margin.new(profile)
    estimate = calm.around(:p95, forecast(HAVE, capacity: 100, p95: 0.1))
    assert_operator estimate.low, :<, 0.1
    assert_in_delta 0.1 / estimate.low, estimate.high / 0.1
    beyond = Tuner::Forecast.new(**forecast(HAVE, capacity: 100, p95: 0.1).to_h, beyond: true)
    assert_operator calm.around(:p95, beyond).high, :>, estimate.high
    off = Array.new(6) do |index|
      { "setting" => HAVE.to_h, "demand" => { "rate" => 50.0 }, "forecast" => { "p95" => 0.1 },
        "measured" => { "p95" => 0.1 * (index.even? ? 1.5 : 0.6) } }
    end
    assert_operator Tuner::Margin.new(profile(corrections: off)).spread(:p95), :>, 2 * calm.spread(:p95)
    assert_equal calm.spread(:capacity), Tuner::Margin.new(profile(corrections: off)).spread(:capacity)
  end

  def test_what_grows_without_end_has_no_interval
    forecast = Tuner::Forecast.new(**forecast(HAVE, capacity: 10).to_h, p95: Float::INFINITY)
    assert_equal [Float::INFINITY, nil, nil, nil], Tuner::Margin.new(profile).around(:p95, forecast).to_a
  end
end
