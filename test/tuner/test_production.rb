# frozen_string_literal: true

require "test_helper"

# Profiles from the histograms of a running server.
class TestProduction < Minitest::Test
  Tuner = Cuttle::Tuner
  Ledger = Cuttle::Ledger

  def test_times_are_those_of_the_histograms
    random = Random.new(1)
    times = Array.new(1000) { 0.002 + (0.01 * random.rand) }
    profile = profile_of(cpu: times, app: times.map { |time| time + 0.02 }, wait: [0.02] * 1000, gc: [0.001] * 1000,
                         gvl: [0.0] * 1000)
    assert_in_delta times.sum / 1000 + 0.001, profile.mean_cpu, 1e-6
    assert_in_delta 0.02, profile.mean_wait, 1e-6
    entry = profile.entries.first
    assert_equal entry.cpu.sort, entry.cpu
    assert_in_delta 0.002 + 0.01 * 0.9 + 0.001, entry.cpu[89], 0.001
    assert_equal [1.0, 1000], [entry.waits, entry.samples]
  end

  def test_what_the_server_needs_is_the_cpu_time_that_the_app_does_not_explain
    profile = profile_of(cpu: [0.004] * 200, app: [0.005] * 200, cpu_seconds: 0.9)
    assert_in_delta 0.0005, profile.overheads["hybrid"], 1e-6
    assert_nil profile_of(cpu: [0.004] * 200, app: [0.005] * 200).overheads
  end

  def test_memory_is_that_of_workers_and_of_what_they_share
    profile = profile_of(cpu: [0.004] * 200, app: [0.005] * 200, memory: { workers: [30, 50], others: 20 })
    assert_equal({ "base" => 20, "worker" => 40, "thread" => 0 }, profile.memory)
  end

  def test_notes_name_what_it_can_not_see
    plain = profile_of(cpu: [0.004] * 200, app: [0.005] * 200, gvl: [0] * 200, cpu_seconds: 0.9).notes
    assert_equal 4, plain.length
    assert_match(/database connections are not counted/, plain.join)
    sampled = profile_of(cpu: [0.004] * 100, app: [0.005] * 200, gvl: [0] * 200, cpu_seconds: 0.9).notes
    assert_match(/50 % of the requests/, (sampled - plain).join)
    old = profile_of(cpu: [0.004] * 200, app: [0.005] * 200, cpu_seconds: 0.9, workers: 0).notes
    assert_match(/before Ruby 3\.2.*without workers/m, (old - plain).join("\n"))
    assert_match(/outside the app/, profile_of(cpu: [0.004] * 200, app: [0.005] * 200).notes.join)
  end

  def test_a_note_says_that_database_connections_of_threads_are_assumed
    profile = profile_of(cpu: [0.004] * 200, app: [0.005] * 200, connections: { "process" => 0, "thread" => 1 })
    assert_equal 6, Tuner::Footprint.new(profile).connections(Tuner::Setting.new(workers: 2, threads: 3))
    assert_match(/each thread is assumed to hold one database connection/, profile.notes.join)
    refute_match(/not counted/, profile.notes.join)
  end

  def test_too_little_is_named_in_one_line
    error = assert_raises(Tuner::Failure) { profile_of(cpu: [0.1] * 5, app: [0.1] * 5) }
    assert_match(/\A5 requests are too few/, error.message)
    error = assert_raises(Tuner::Failure) { profile_of(app: [0.1] * 500, engine: "fibers") }
    assert_match(/fibers does not count the CPU time/, error.message)
  end

  private

  # phases: seconds of each request.
  def profile_of(engine: "hybrid", workers: 2, memory: nil, cpu_seconds: nil, connections: nil, **phases)
    ledger = phases.transform_values { |times| histogram(times) }
    Tuner::Profile.from_ledger(ledger, engine: engine, workers: workers, memory: memory, cpu: cpu_seconds,
                                       connections: connections)
  end

  def histogram(times)
    buckets = Array.new(Ledger::BOUNDS.length, 0)
    times.each { |seconds| buckets[Ledger::BOUNDS.index { |bound| seconds * 1e9 <= bound }] += 1 }
    { count: times.length, sum: (times.sum * 1e9).round, buckets: buckets }
  end
end
