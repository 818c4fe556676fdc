# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"

# The trials of benchmark/hostile and benchmark/overload, small, on this checkout.
class TestBenchmarkTrials < Minitest::Test
  ENVIRONMENT = Bench::Work.environment("0:2", 1000)
  # A trial takes almost the 10 s after which slow clients are ended.
  PATIENT = %w[--header-timeout 120 --min-rate 0].freeze

  def test_slow_clients_come_are_counted_and_go
    skip "gcc is not installed" unless Bench::Program.path("gcc")

    crowd = Bench::SlowClients.new("heads:8", "bodies:8", "readers:8:/300k")
    figures = run_trial(Bench::Hostility.new(Bench::CuttleLoad.new(connections: 4), crowd), "hostile")
    assert_equal [24, 0], figures.values_at(:slow_held, :slow_closed)
    %i[rate slow_rate slow_rate_ratio slow_p99_ratio arrival_rate_ratio].each do |name|
      assert_operator figures[name], :>, 0, name
    end
    assert_operator figures[:slow_alone], :<, 1
    assert_empty figures[:errors]
  end

  def test_more_than_the_capacity_is_offered
    figures = run_trial(Bench::Overload.new(3, timeout: 2), "work")
    assert_operator figures[:rate], :<, 1000 # 2 threads that wait 2 ms
    assert_operator figures[:offered], :>, figures[:rate] * 2
    assert_operator figures[:goodput], :>, 0
    assert_operator figures[:accepted_p99], :>=, figures[:accepted_p50]
    assert_equal 0, figures[:shed]
  end

  private

  def run_trial(trial, app)
    FileUtils.mkdir_p(Bench::LOGS)
    recipe = Bench::Cuttle.new("trial", "-t", "2:2", *PATIENT, path: Bench.app(app), env: ENVIRONMENT)
    recipe.prepare
    trial.call(recipe, 1, Bench::Cores.new)
  end
end
