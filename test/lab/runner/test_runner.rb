# frozen_string_literal: true

require "test_helper"
require "delegate"
require_relative "../support/lab_fakes"

# Carrying a plan out, on servers of the load generator's own: what is written down, whatever happens.
class TestLabRunner < Minitest::Test
  LOADS = { duration: 0.05, warmup: 0, concurrency: [1, 2], workers: [0], engines: %w[single hybrid] }.freeze
  VALID = 1.0

  def setup
    @native = Cuttle::Load::TestServers::Known.new(:null, delays: [0.001]) # loads leave the processor to other tests
    @store = LabFakes::Store.new
    @out = StringIO.new
    @interruption = Cuttle::Lab::Runner::Interruption.new
  end

  def teardown
    @native.close
  end

  def test_every_run_of_the_plan_is_written_once
    run_lab(rounds: 2)
    runs = @store.of("run")
    assert_equal 12, runs.length # three configurations with the control, two loads, two blocks
    assert_equal 12, runs.uniq { |run| run.values_at("configuration", "load", "block") }.length
    assert_equal (1..12).to_a, runs.map { |run| run["order"] }
    assert_equal({ "type" => "end", "interrupted" => false }, @store.lines.last.slice("type", "interrupted"))
  end

  def test_a_run_says_what_was_measured
    run_lab(rounds: 1, duration: VALID)
    run = @store.of("run").first
    assert run["valid"]
    under_way = LOADS[:concurrency].max # at the end
    assert_in_delta run["responses"], run["rate"] * run["elapsed"], under_way + 0.01
    assert_operator run["ms"]["p50"], :>, 0
    assert_equal [1_000_000], run["server"]["pss"]
    assert_equal true, run["proof"].first["proved"]
    assert_equal run["histogram"]["count"], Cuttle::Load::Histograms.load(run["histogram"]).count
    assert_nil Cuttle::Lab::Results::Shape.damage(run)
  end

  def test_another_load_tester_measures_in_place_of_ours
    skip Cuttle::Lab::Testers.find("ab").unavailable if Cuttle::Lab::Testers.find("ab").unavailable
    Cuttle::Load::TestServers.open(:null, manner: :close) do |native|
      run_lab(rounds: 1, changes: { "tester" => "ab", "requests" => 50 }) { LabFakes::Server.new(native.port) }
    end
    run = @store.of("run").first
    assert_equal [true, [], 50], run.values_at("valid", "reasons", "responses")
    assert_operator run["rate"], :>, 10
    assert_equal [nil, nil, []], [run["histogram"], run["ms"]["p99.9"], run["windows"]] # ab has none of them
    assert_nil Cuttle::Lab::Results::Shape.damage(run)
  end

  def test_each_configuration_of_a_block_has_a_server_of_its_own
    testbed = run_lab(rounds: 2)
    assert_equal 6, testbed.started.length
    assert(testbed.started.all?(&:stopped))
  end

  def test_a_setting_that_is_not_proved_makes_a_run_invalid
    run_lab(rounds: 1, duration: VALID) { LabFakes::Server.new(@native.port, proved: false) }
    runs = @store.of("run")
    assert(runs.none? { |run| run["valid"] })
    assert_equal ["unproved: workers should be 2, but is 1"], runs.first["reasons"]
  end

  def test_a_server_that_answers_wrongly_is_invalid
    Cuttle::Load::TestServers.open(:failing) do |failing|
      run_lab(rounds: 1, duration: VALID) { LabFakes::Server.new(failing.port) }
      assert_match(/wrong answers: status_5xx \d+/, @store.of("run").first["reasons"].first)
    end
  end

  # They come after the end, so the rate is 0.
  def test_a_run_that_ends_before_its_first_response_is_invalid
    Cuttle::Load::TestServers.open(:null, delays: [0.3]) do |slow|
      run_lab(rounds: 1, duration: 0.1) { LabFakes::Server.new(slow.port) }
      assert_equal [["nothing was answered before the run ended"]], @store.of("run").map { |run| run["reasons"] }.uniq
    end
  end

  def test_one_server_that_dies_never_ends_the_lab
    run_lab(rounds: 3) { |configuration| LabFakes::Server.new(@native.port, dies: configuration.model == "single") }
    assert_equal ["the server died: undefined method `call' for nil"],
                 @store.of("failure").map { |each| each["reason"] }.uniq
    assert_equal 2, @store.of("failure").length # then it is left out
    assert_equal 12, @store.of("run").length # of hybrid, and its control
  end

  def test_a_server_that_does_not_start
    run_lab(rounds: 1) do |configuration|
      raise Cuttle::Lab::Failure, "it did not start: no such file" if configuration.id == "c1"

      LabFakes::Server.new(@native.port)
    end
    assert_equal %w[c1 c1], @store.of("failure").map { |each| each["configuration"] }
    assert_match(/single, .*: it did not start: no such file/, @out.string)
  end

  def test_no_server_at_all
    error = assert_raises(Cuttle::Lab::Failure) { run_lab(rounds: 9) { raise Cuttle::Lab::Failure, "no" } }
    assert_match(/nothing could be measured: no/, error.message)
    assert_equal 12, @store.of("failure").length
  end

  def test_nothing_listens
    testbed = run_lab(rounds: 1) do |configuration|
      LabFakes::Server.new(configuration.model == "single" ? free_port : @native.port)
    end
    assert(testbed.started.all?(&:stopped))
    assert_match(/refused/, @store.of("failure").first["reason"])
  end

  def test_a_full_disk_ends_it_with_one_line
    @store = LabFakes::Store.new(limit: 2)
    error = assert_raises(Cuttle::Lab::Runner::Unwritable) { run_lab(rounds: 2) }
    assert_match(/No space left/, error.message)
    assert_equal 2, @store.lines.length
  end

  def test_an_interrupted_lab_says_so_and_keeps_what_there_is
    starts = 0
    testbed = run_lab(rounds: 5) do
      @interruption.ask if (starts += 1) == 2
      LabFakes::Server.new(@native.port)
    end
    assert_equal 2, @store.of("run").length
    assert_equal true, @store.lines.last["interrupted"]
    assert(testbed.started.all?(&:stopped))
  end

  # Cores that lose the given seconds in each run: a list.
  class Disturbed < SimpleDelegator
    def initialize(cores, lost)
      super(cores)
      @lost = lost
      @busy = 0.0
      @asked = 0
    end

    # Of the server's cores it is asked before a run, and after it.
    def times(cores = nil)
      return { busy: 0.0, steal: 0.0 } unless cores

      @busy += @lost.shift.to_f if (@asked += 1).even?
      { busy: 0.0, steal: @busy }
    end
  end

  def test_a_disturbed_run_is_made_again_and_the_quieter_one_kept
    run_lab(rounds: 1, cores: Disturbed.new(Cuttle::Lab::Machine::Cores.new, [10.0, 0.001]))
    first, second = @store.of("run").first(2)
    assert first["repeated"]
    assert_operator first["lost"], :<, 0.1
    assert_equal [false, 0.0], second.values_at("repeated", "lost")
    assert_equal 6, @store.of("run").length
  end

  # Looks before the first run, before its second attempt, and so on: a list of speeds, 1 once that is over.
  def test_a_run_that_a_slow_core_came_over_is_made_again
    looks = [1, 0.5, 1, 0.95]
    run_lab(rounds: 1, cores: quiet_cores, speed: core_speed { looks.shift || 1 })
    first, second = @store.of("run").first(2)
    assert_equal [true, 0.95], first.values_at("repeated", "speed")
    assert_equal [false, 1.0], second.values_at("repeated", "speed")
  end

  def test_what_stays_slow_is_kept_and_warned_of
    run_lab(rounds: 1, duration: VALID, cores: quiet_cores, speed: core_speed { 0.5 })
    runs = @store.of("run")
    assert_equal [], runs.flat_map { |run| run["reasons"] }
    assert(runs.all? { |run| run["warnings"].any? { |each| each["name"] == "slow" } })
  end

  def test_a_quiet_run_is_made_once
    run_lab(rounds: 1, cores: quiet_cores)
    assert(@store.of("run").none? { |run| run["repeated"] })
  end

  def test_where_all_is_disturbed_few_are_made_again_and_all_are_kept
    run_lab(rounds: 2, duration: VALID, cores: Disturbed.new(Cuttle::Lab::Machine::Cores.new, [10.0] * 99))
    runs = @store.of("run")
    assert_equal [1, 5, 9], runs.select { |run| run["repeated"] }.map { |run| run["order"] }
    assert_equal [], runs.flat_map { |run| run["reasons"] }
    assert(runs.all? { |run| run["lost"] > 1 })
  end

  def test_rounds_that_are_not_wanted_are_not_made
    run_lab(rounds: 5, wanted: ->(number) { [] if number == 2 })
    assert_equal [0, 1], @store.of("run").map { |run| run["block"] }.uniq
    assert_equal false, @store.lines.last["interrupted"]
  end

  def test_a_round_has_the_pairs_that_are_wanted
    run_lab(rounds: 3, workers: [0, 2], wanted: ->(number) { [[%w[c1 l1]], [%w[c2 l1], %w[c3 l2]], []][number] })
    assert_equal [["c1", "l1", 0], ["c2", "l1", 1], ["c3", "l2", 1]],
                 @store.of("run").map { |run| run.values_at("configuration", "load", "block") }.sort
  end

  # The warm-up tells how many requests that takes. On a busy machine, a piece of it may see none.
  def test_a_run_of_requests_takes_its_least_time
    assert_equal [10], of_requests { |_| [50.0, 0.2] }
  end

  # A piece of the warm-up is shorter than these responses take.
  def test_requests_that_end_too_soon_are_part_of_the_warm_up
    assert_equal [40], of_requests { |requests| requests ? [200.0, requests / 200.0] : [50.0, 0.1] }
  end

  private

  # The numbers of requests of the runs of a load: one request, or as many as take 0.2 s. The block returns the rate and
  # the seconds of so many requests; of a piece of the warm-up, if that number is nil.
  def of_requests
    trial = lambda do |generator:, **rest|
      known = lambda do |url, **options|
        rate, elapsed = yield options[:requests]
        SimpleDelegator.new(generator.call(url, **options)).tap do |result|
          result.define_singleton_method(:rate) { rate }
          result.define_singleton_method(:elapsed) { elapsed }
        end
      end
      Cuttle::Lab::Runner::Trial.new(generator: known, **rest)
    end
    run_lab(rounds: 1, warmup: 0.2, changes: { "requests" => 1, "least" => 0.2, "trial" => "known" },
            trials: { "known" => trial })
    @store.of("run").map { |run| run["sent"] }.uniq
  end

  # changes: of the loads, as the results file has them. In VALID seconds a run has responses on a loaded machine too,
  # without which it isn't valid.
  def run_lab(rounds:, duration: LOADS[:duration], cores: Cuttle::Lab::Machine::Cores.new, changes: nil,
              speed: core_speed { 1 }, workers: [0], warmup: LOADS[:warmup], wanted: nil, trials: {}, &made)
    options = Cuttle::Lab::Options.new(seed: 1, rounds: rounds, **LOADS, duration: duration, warmup: warmup,
                                       workers: workers)
    plan = Cuttle::Lab::Plan.build(options, peers: LabFakes::Peers.new)
    plan = changed(plan, changes) if changes
    testbed = LabFakes::Testbed.new(&made || ->(_) { LabFakes::Server.new(@native.port) })
    runner = Cuttle::Lab::Runner.new(
      plan: plan, testbed: testbed, cores: cores, speed: speed, store: @store, interruption: @interruption,
      time: Cuttle::Lab::Runner::TimeLimit.new(nil), wanted: wanted, trials: trials,
      progress: Cuttle::Lab::Runner::Progress.new(@out, total: 1)
    )
    runner.run
    runner.finish
    testbed
  end

  def quiet_cores
    Disturbed.new(Cuttle::Lab::Machine::Cores.new, [])
  end

  # The block says how fast the one core is, beside what it was before.
  def core_speed
    known = Cuttle::Lab::Machine::CoreSpeed::FIRST
    look = ->(_) { (known -= 1) >= 0 ? 100 : 100 * yield }
    cores = Cuttle::Lab::Machine::Cores.new(server: [Cuttle::Lab::Machine::Cores.allowed.first])
    time = 0
    Cuttle::Lab::Machine::CoreSpeed.new(cores, look: look, pause: ->(seconds) { time += seconds }, clock: -> { time })
  end

  def changed(plan, changes)
    loads = plan.loads.map { |load| Cuttle::Lab::Results::LoadSpec.new(load.to_h.merge(changes)) }
    settings = %i[configurations missing seed rounds duration warmup cut].to_h { |name| [name, plan.public_send(name)] }
    Cuttle::Lab::Plan.new(loads: loads, **settings)
  end

  def free_port = Cuttle::Lab::Servers::Ports.free
end
