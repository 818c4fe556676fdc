# frozen_string_literal: true

require "test_helper"
require_relative "../support/exposition"

# Metrics from a server's measures, and as Prometheus' text.
class TestMetrics < Minitest::Test
  Metrics = Cuttle::Telemetry::Metrics
  Histogram = Metrics::Histogram
  BOUNDS = Cuttle::Ledger::BOUNDS

  def test_names_follow_the_conventions
    Metrics::TABLE.each do |metric|
      assert_match(/\Acuttle(_[a-z]+)+\z/, metric.name)
      assert_equal metric.type == :counter, metric.name.end_with?("_total"), metric.name
      base = metric.name.delete_suffix("_total")
      assert base.end_with?("_#{metric.unit}"), metric.name if metric.unit
      refute_match(/[.\n]\z/, metric.help)
    end
    assert_equal Metrics::TABLE.length, Metrics::TABLE.map(&:name).uniq.length
  end

  def test_each_phase_of_the_ledger_has_a_histogram
    assert_equal %i[accept app cpu gc gvl queue read total wait write], Metrics::TABLE.filter_map(&:phase).sort
    assert_equal "cuttle_request_app_seconds", Metrics.phase(:app).name
  end

  def test_a_cluster
    families = read(cluster)
    assert_equal [3, 2, 1], values(families, "cuttle_workers", "cuttle_workers_ready", "cuttle_workers_old")
    assert_equal [7, 2], values(families, "cuttle_workers_started_total", "cuttle_workers_died_total")
    assert_equal [100, 1_700_000_000.5, 1], values(families, "cuttle_requests_total", "cuttle_start_time_seconds",
                                                   "cuttle_ready")
    busy = families["cuttle_threads_busy"]
    assert_equal [[2, 3], 2], [[busy.value(worker: "0"), busy.value(worker: "1")], busy.samples.length]
    assert_equal 1, families["cuttle_threads_auto"].value(worker: "0"), "two workers of one index don't add up"
    assert_equal 60, families["cuttle_worker_requests_total"].value(worker: "0")
    assert_equal 1, families["cuttle_worker_restarts_total"].value(worker: "0")
    memory = families["cuttle_memory_bytes"]
    assert_equal [10, 50, 30], [memory.value(process: "supervisor"), memory.value(process: "worker", worker: "0"),
                                memory.value(process: "worker", worker: "1")]
    refute_includes memory.labels, { process: "elder" }, "its memory is unknown"
  end

  def test_a_server_without_workers
    families = read(alone)
    refute(families.keys.any? { |name| name.match?(/worker/) })
    assert_equal [{}], families["cuttle_backlog"].labels
    assert_equal 5, families["cuttle_memory_bytes"].value(process: "server")
    refute families.key?("cuttle_threads_max"), "there is no limit"
    refute families.key?("cuttle_request_gvl_seconds"), "this Ruby does not measure it"
  end

  # The metrics before a worker has reported anything.
  def test_a_cluster_that_starts
    worker = { index: 0, pid: nil, started_at: nil, stats: {}, requests: nil, restarts: nil }
    families = read({ **cluster, started_at: nil, ready: false, ledger: {}, memory: {}, owners: {},
                                 processes: [worker] })
    assert_equal 0, families["cuttle_ready"].value
    refute families.key?("cuttle_backlog")
  end

  def test_labels_and_help_are_escaped
    name = "cuttle_build_info"
    ruby = "a\"b\\c\nd"
    measures = { **alone, versions: { cuttle: "1", ruby: { engine: ruby, version: "é" } } }
    text = Cuttle::Telemetry::Prometheus.text(Metrics.of(measures))
    assert_includes text, 'ruby="a\"b\\\\c\nd é"'
    assert_equal 1, Exposition.read(text)[name].value(version: "1", ruby: "#{ruby} é")
    odd = Metrics::Metric.new(name: "cuttle_odd", type: :gauge, help: "a\\b\nc", labels: [])
    text = Cuttle::Telemetry::Prometheus.text([Metrics::Family.new(odd, [[{}, 1]])])
    assert_equal "# HELP cuttle_odd a\\\\b\\nc", text.lines.first.chomp
    Exposition.read(text)
  end

  def test_numbers_as_go_reads_them
    number = Cuttle::Telemetry::Prometheus.method(:number)
    assert_equal %w[1 2 0.25 1.0e-05 +Inf -Inf NaN 12345678901234567890],
                 [1, 2.0, 0.25, 1e-5, Float::INFINITY, -Float::INFINITY, Float::NAN, 12_345_678_901_234_567_890]
                   .map { |value| number.call(value) }
  end

  # Each bound is one of the ledger's, so that nothing has to be guessed.
  def test_histograms_are_exact
    bounds = Histogram.bounds
    assert_operator bounds.length, :>=, 14
    assert_empty bounds.map { |bound| (bound * 1e9).round } - BOUNDS.first(BOUNDS.length - 1).map(&:round)
    counts = Array.new(BOUNDS.length) { |place| place % 7 }
    histogram = Histogram.of({ count: counts.sum, sum: 1_500_000_000, buckets: counts })
    histogram.cumulative.each do |bound, count|
      exact = BOUNDS.zip(counts).sum { |upper, each| upper <= (bound * 1e9).round(3) ? each : 0 }
      assert_equal bound.finite? ? exact : counts.sum, count, bound
    end
    assert_equal [1.5, counts.sum], [histogram.sum, histogram.count]
  end

  # From 100 us to 60 s, with room for rounding up.
  def test_the_bounds
    wanted = Histogram::WANTED.first(Histogram.bounds.length)
    wanted.zip(Histogram.bounds) { |want, bound| assert_includes want..(want * 1.07), bound }
  end

  def test_the_parser_of_these_tests_is_strict
    good = "# HELP a_total x\n# TYPE a_total counter\na_total 1\n"
    Exposition.read(good)
    [good.chomp, good.sub("counter", "gauge"), good.sub("counter", "thing"), good + "a_total 1\n", good * 2,
     good.sub(" 1", " x"), good.sub(" 1", " -1"), good.lines.drop(1).join, good.sub("a_total 1", "b_total 1"),
     good.sub("a_total 1", "a_total{b=\"\\x\"} 1"), good.sub("a_total 1", "a_total{b=\"1\",b=\"2\"} 1"),
     "# HELP a_total x\na_total 1\n", good.lines.first(2).join,
     histogram('h_bucket{le="1"} 2', 'h_bucket{le="+Inf"} 1', "h_sum 1", "h_count 1"),
     histogram('h_bucket{le="1"} 1', "h_sum 1", "h_count 1"),
     histogram('h_bucket{le="+Inf"} 1', 'h_bucket{le="1"} 1', "h_sum 1", "h_count 1"),
     histogram('h_bucket{le="+Inf"} 1', "h_sum 1", "h_count 2")].each do |text|
      assert_raises(Exposition::Error, text) { Exposition.read(text) }
    end
  end

  private

  def histogram(*lines)
    ["# HELP h x", "# TYPE h histogram", *lines].map { |line| "#{line}\n" }.join
  end

  def read(measures)
    Exposition.read(Cuttle::Telemetry::Prometheus.text(Metrics.of(measures)))
  end

  def values(families, *names) = names.map { |name| families[name].value }

  def versions = Cuttle::Stats.versions

  def cluster
    worker = { started_at: Time.at(1_700_000_100), restarts: 1 }
    { versions: versions, started_at: Time.at(1_700_000_000.5), ready: true,
      workers: { known: 3, ready: 2, old: 1, started: 7, died: 2 }, totals: { requests_count: 100, accepted: 20 },
      processes: [{ **worker, index: 0, pid: 1, requests: 60, stats: { busy_threads: 1, auto_threads: 1 } },
                  { **worker, index: 0, pid: 2, requests: 60, stats: { busy_threads: 1, auto_threads: 1 } },
                  { **worker, index: 1, pid: 3, requests: 40, stats: { busy_threads: 3 } },
                  { index: nil, pid: 4, started_at: nil, requests: nil, restarts: nil, stats: {} }],
      owners: { { process: "supervisor" } => [9], { process: "worker", worker: "0" } => [1, 2],
                { process: "worker", worker: "1" } => [3], { process: "elder" } => [4] },
      memory: { 9 => 10, 1 => 20, 2 => 30, 3 => 30, 4 => nil }, ledger: ledger(:total, :app, :gvl) }
  end

  def alone
    { versions: versions, started_at: Time.at(0), ready: true, workers: nil, totals: { requests_count: 1 },
      processes: [{ index: nil, pid: 1, started_at: Time.at(0), stats: { backlog: 0, max_threads: nil } }],
      owners: { { process: "server" } => [1] }, memory: { 1 => 5 }, ledger: ledger(:total) }
  end

  def ledger(*phases)
    phases.to_h { |phase| [phase, { count: 1, sum: 1000, buckets: [1, *Array.new(BOUNDS.length - 1, 0)] }] }
  end
end
