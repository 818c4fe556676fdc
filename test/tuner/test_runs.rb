# frozen_string_literal: true

require "test_helper"

# Which runs under load are made, and what becomes of those that fail. No server is started.
class TestProfilerRuns < Minitest::Test
  Profiler = Cuttle::Tuner::Profiler
  Setting = Cuttle::Tuner::Setting

  # Serves each setting unless it has errors left for it.
  class Bench
    FAILING = 50.0 # seconds that an error takes
    Cores = Struct.new(:server, :load)
    Result = Struct.new(:latency) { def interrupted? = true }
    Site = Struct.new(:bench) do
      def load(duration:, **) = bench.pass(duration) { Result.new }

      def measure(duration:, **)
        bench.pass(duration) do
          Profiler::Reading.new(cpu: 0.001, app_cpu: 0.001, app: 0.001, rate: 100, responses: 100, cores: 0.1, pss: 1)
        end
      end
    end

    attr_reader :served, :places, :now

    # errors: engine => those of its first starts. server: the server's cores.
    def initialize(errors, server)
      @errors = errors
      @server = server
      @served = []
      @places = []
      @now = 0.0
    end

    def cores = Cores.new(@server, [1])
    def boot = 0.1
    def unavailable(setting) = ("not here" if setting.engine == "threads")

    def serve(setting, on:, **)
      @served << setting.engine
      @places << [setting.name, on]
      error = @errors.fetch(setting.engine, []).shift or return yield Site.new(self)
      pass(FAILING) { raise error }
    end

    def pass(seconds)
      @now += seconds
      yield
    end
  end

  # Of an app that computes for 5 ms and waits for as long.
  class Samples
    def mean(_kind) = 0.005
    def deviation(_kind) = 0.001
    def times = [0.01]
  end

  def setup
    @said = []
  end

  def test_an_engine_that_failed_once_is_measured_after_the_others
    runs = runs({ "single" => [wrong] })
    assert_empty runs.unfit
    assert_empty @said
    assert_equal %w[single fibers single], @bench.served.last(3)
    assert_equal %w[fibers hybrid single], runs.alone.keys.sort
  end

  def test_an_engine_that_fails_again_is_unfit
    runs = runs({ "single" => [wrong, wrong("it died")] })
    assert_equal({ "single" => "it died" }, runs.unfit)
    assert_equal ["single -w 1 was not measured: it died"], @said
    assert_equal %w[fibers hybrid], runs.alone.keys.sort
  end

  # The first error counts, and no time is missed for what was tried.
  def test_without_time_there_is_no_second_try
    runs = runs({ "fibers" => [wrong] }, seconds: Bench::FAILING)
    assert_equal({ "fibers" => "wrong answers" }, runs.unfit)
    assert_equal ["fibers -w 1 was not measured: wrong answers"], @said
  end

  # The model then takes the mean overhead of the other engines for it.
  def test_a_setting_that_can_not_be_proved_says_nothing_about_the_engine
    unproved = Profiler::Unproved.new("threads should be 1, but is not visible")
    runs = runs({ "single" => [unproved, unproved] })
    assert_empty runs.unfit
    assert_equal ["single -w 1 was not measured: threads should be 1, but is not visible"], @said
  end

  def test_what_this_machine_can_not_run_is_not_tried
    runs = runs(engines: %w[hybrid threads])
    assert_equal({ "threads" => "not here" }, runs.unfit)
    refute_includes @bench.served, "threads"
  end

  def test_workers_share_a_core_and_have_cores_of_their_own
    runs(engines: %w[hybrid])
    assert_equal [["hybrid -w 1 -t 1", [0]], ["hybrid -w 1 -t 5", [0]], ["hybrid -w 1 -t 5", [0, 1]],
                  ["hybrid -w 2 -t 5", [0, 1]], ["hybrid -w 2 -t 5", [0]]], @bench.places
    runs(engines: %w[hybrid], server: [0, 2, 3])
    assert_equal [["hybrid -w 1 -t 1", [0, 2, 3]], ["hybrid -w 1 -t 5", [0, 2, 3]], ["hybrid -w 2 -t 5", [0, 2, 3]],
                  ["hybrid -w 3 -t 5", [0, 2, 3]], ["hybrid -w 1 -t 5", [0]], ["hybrid -w 2 -t 5", [0]]], @bench.places
  end

  private

  def wrong(text = "wrong answers")
    Cuttle::Tuner::Failure.new(text)
  end

  # The Runs of an app for which these engines fail so often.
  def runs(errors = {}, seconds: 1000, engines: %w[hybrid single fibers], server: [0])
    @bench = Bench.new(errors, server)
    schedule = Profiler::Schedule.new(seconds, clock: -> { @bench.now })
    Profiler::Runs.new(@bench, Samples.new, engines: engines, schedule: schedule, say: ->(_) {},
                                            warn: @said.method(:push)).run
  end
end
