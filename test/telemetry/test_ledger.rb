# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"
require_relative "../support/serving"

# Reading ledgers, and those of processes. test/contracts/test_ledgers.rb has what engines write.
class TestLedger < Minitest::Test
  include Serving

  Ledger = Cuttle::Ledger
  CORES = Cuttle::Cores.names.reject { |name| Cuttle::Cores.missing(name) }

  def test_bounds_are_log_linear
    assert_equal [1024, 1088, 1152], Ledger::BOUNDS.first(3)
    assert_equal Float::INFINITY, Ledger::BOUNDS.last
    assert_equal 1 << 42, Ledger::BOUNDS[-2]
    assert_predicate Ledger::BOUNDS, :frozen?
    Ledger::BOUNDS[0..-2].each_cons(2) { |low, high| assert_includes 1..(low / 16.0), high - low }
  end

  def test_quantiles
    assert_nil Ledger.quantile(phase, 0.5)
    one = phase(1_000_000)
    [0, 0.5, 1].each { |quantile| assert_in_delta 0.001, Ledger.quantile(one, quantile), 0.0000625 }
    many = phase(*(1..100).map { |number| number * 1_000_000 })
    { 0.01 => 0.001, 0.5 => 0.05, 0.99 => 0.099, 1 => 0.1 }.each do |quantile, seconds|
      assert_includes seconds..(seconds * 1.0625), Ledger.quantile(many, quantile)
    end
    assert_equal (1 << 42) / 1e9, Ledger.quantile(phase(1 << 50), 0.5) # no figure is infinite
  end

  def test_means
    assert_nil Ledger.mean(phase)
    assert_in_delta 0.002, Ledger.mean(phase(1_000_000, 3_000_000))
  end

  def test_sums_and_differences
    one, other = { app: phase(5_000), gvl: phase(7) }, { app: phase(9_000) }
    both = Ledger.merge([one, other])
    assert_equal({ app: phase(5_000, 9_000), gvl: phase(7) }, both)
    assert_equal({ app: phase(9_000), gvl: phase(7) }, Ledger.difference(both, { app: one[:app] }))
    assert_empty Ledger.merge([])
  end

  def test_summaries
    assert_equal({ app: { count: 0, mean: nil, p50: nil, p99: nil } }, Ledger.summary(app: phase))
    assert_equal({ count: 2, mean: 0.001, p50: 0.001015808, p99: 0.001015808 },
                 Ledger.summary(app: phase(1_000_000, 1_000_000))[:app])
  end

  def test_places
    CORES.each do |core|
      board = Cuttle::Cores.fetch(core)::Scoreboard.new(2)
      assert_nil board.place
      refute board.take(2)
      assert board.take(1)
      assert_equal 1, board.place
      [nil, 0, 1, 2].each { |place| assert_equal 0, board.ledger(place)[:app][:count] }
    end
  end

  # A worker that replaces another one continues its ledger; other workers' ledgers are separate.
  def test_workers_of_one_place
    skip "no fork" unless Process.respond_to?(:fork)

    CORES.each do |core|
      board = Cuttle::Cores.fetch(core)::Scoreboard.new(3)
      [1, 1, 2].each { |place| work(core, board, place) }
      assert_equal([0, 2, 1, 3], [0, 1, 2, nil].map { |place| board.ledger(place)[:total][:count] })
      board.clear(1)
      assert_equal 3, board.ledger[:total][:count]
    end
  end

  def test_a_worker_without_a_place_has_none
    board = Cuttle::Scoreboard.new(1)
    serving(->(_) { [200, {}, ["x"]] }, scoreboard: board) do |server|
      assert_equal 200, get(server).status
      assert_empty server.ledger
    end
    assert_equal 0, board.ledger[:total][:count]
  end

  # Also where a worker dies meanwhile.
  def test_the_stats_of_a_cluster
    skip "no fork" unless Process.respond_to?(:fork)

    CORES.each do |core|
      with_cluster(core) do |server, control|
        10.times { assert_equal 200, get(server).status }
        assert_equal 10, at_rest(control, 10)["ledger"]["total"]["count"] # a worker that dies counts nothing more
        before = server.workers
        Process.kill(:KILL, before.first)
        eventually("another worker") { (server.workers - before).any? && stats_of(control)["booted_workers"] == 2 }
        10.times { assert_equal 200, get(server).status }
        stats = at_rest(control, 20)
        assert_equal 20, stats["ledger"]["total"]["count"]
        assert_equal 20, of_workers(stats)
        assert_equal %w[count mean p50 p99], stats["ledger"]["app"].keys
        assert_operator stats["ledger"]["app"]["p99"], :>, 0
      end
    end
  end

  def test_the_stats_of_the_only_process
    with_cluster("native", workers: 0) do |server, control|
      assert_equal 200, get(server).status
      stats = eventually("the request") { stats_of(control).then { |all| all if all["ledger"]["total"]["count"] == 1 } }
      assert_equal 1, stats["ledger"]["queue"]["count"]
    end
  end

  # Each of them writes its own.
  def test_ractors
    skip "this Ruby has none of ours" if Cuttle::Engines.unavailable("ractors")

    app = Ractor.shareable_proc { |_| [200, {}, ["x"]] }
    capture_io do
      serving(app, engine: "ractors", ractors: 2, threads: 2) do |server|
        Array.new(4) { Thread.new { 25.times { get(server) } } }.each(&:join)
        eventually("all of them") { server.ledger[:total][:count] == 100 }
        assert_equal [0, 0], server.ledger.values_at(:cpu, :gc).map { |phase| phase[:count] }
        assert_equal 100, server.ledger[:gvl][:count]
      end
    end
  end

  private

  # A phase in which requests took so long, in nanoseconds.
  def phase(*times)
    buckets = Array.new(Ledger::BOUNDS.size, 0)
    times.each { |time| buckets[Ledger::BOUNDS.index { |bound| bound >= time }] += 1 }
    { count: times.size, sum: times.sum, buckets: buckets }
  end

  # A process that answers one request at a place of the scoreboard.
  def work(core, board, place)
    child = fork do
      board.take(place)
      serving(->(_) { [200, {}, ["x"]] }, core: core, scoreboard: board) { |server| get(server) }
      exit!(0)
    end
    assert_predicate Process.wait2(child).last, :success?
  end

  def with_cluster(core, workers: 2)
    Dir.mktmpdir do |directory|
      control = "#{directory}/c"
      serving_process("#{ROOT}/examples/hello.ru", "-w", workers.to_s, "--core", core, "--control-url",
                      "unix://#{control}", "--drain-grace", "none", forked: true) do |server|
        eventually("all workers") { stats_of(control).fetch("booted_workers", 0) == workers } if workers.positive?
        yield server, control
      end
    end
  end

  # The metrics when that many requests are in the ledger, and in the workers' too: they are read one after the other,
  # and a request counts when it has been answered.
  def at_rest(control, requests)
    eventually("all requests") do
      stats_of(control).then { |all| all if [all["ledger"]["total"]["count"], of_workers(all)].min >= requests }
    end
  end

  def of_workers(stats) = stats["worker_status"].sum { |worker| worker["ledger"]["total"]["count"] }

  def stats_of(control)
    UNIXSocket.open(control) do |socket|
      socket.write("GET /stats HTTP/1.0\r\n\r\n")
      JSON.parse(socket.read.split("\r\n\r\n", 2).last)
    end
  end
end
