# frozen_string_literal: true

require "test_helper"

# The distributions of measured values.
class TestProfilerSamples < Minitest::Test
  Samples = Cuttle::Tuner::Profiler::Samples
  Shape = Cuttle::Tuner::Mix::Shape

  def test_quantiles_ascend_and_keep_the_mean
    random = Random.new(1)
    [1, 7, 100, 250, 1234].each do |number|
      values = Array.new(number) { random.rand**3 }
      quantiles = Samples.quantiles(values)
      assert_equal [number, 100].min, quantiles.length
      assert_equal quantiles.sort, quantiles
      assert_in_delta values.sum / number, quantiles.sum / quantiles.length, 1e-8
      assert_in_delta values.max, quantiles.last, values.max * 0.2
    end
  end

  def test_correlation_is_that_of_ranks
    assert_in_delta 1, Samples.correlation([1, 2, 3, 4], [1, 10, 100, 1000])
    assert_in_delta(-1, Samples.correlation([1, 2, 3], [3, 2, 1]))
    assert_equal 0.0, Samples.correlation([1, 2, 3], [5, 5, 5])
    assert_in_delta 0.8165, Samples.correlation([1, 2, 3, 4], [1, 1, 2, 2]) * Math.sqrt(5.0 / 6), 0.01
    random = Random.new(1)
    assert_in_delta 0, Samples.correlation(*Array.new(2) { Array.new(2000) { random.rand } }), 0.06
  end

  # The rare shape was asked as often as the frequent one, and counts for its weight only.
  def test_means_follow_the_weights_not_the_numbers
    samples, frequent, rare = samples(9, 1)
    4.times { |number| samples.add(frequent, 0.001, 0.002 + number * 1e-6, 3) }
    4.times { samples.add(rare, 0.011, 0, 1) }
    assert_in_delta 0.002, samples.mean(:cpu)
    assert_in_delta 0.0018, samples.mean(:wait), 1e-5
    assert_in_delta 0.003, samples.deviation(:cpu), 1e-6
    assert_equal 0.0, samples.error(:cpu)
    assert_in_delta 0.9 * Math.sqrt(5.0 / 3 * 1e-12 / 4), samples.error(:wait), 1e-12
    assert_equal [4, 8], [samples.least, samples.count]
  end

  # A thread that waits for the next request stops once, too.
  def test_waits_are_switches_but_for_that_of_the_next_request
    samples, frequent, rare = samples(9, 1)
    [4, 5, 3].each { |switches| samples.add(frequent, 0.001, 0.002, switches) }
    [1, 1, 1.03].each { |switches| samples.add(rare, 0.001, 3e-6, switches) }
    first, second = samples.entries(unlocked: 0.5)
    assert_equal [3.0, 0.0], [first.waits, second.waits]
    assert_equal [0.002, 0.0], [first.mean_wait, second.mean_wait] # what other programs took is no waiting
    assert_equal ["GET /a", 9.0, 0.5, 3], [first.name, first.weight, first.unlocked, first.samples]
  end

  # 4% of the requests wait for half a second; what the others lose to other programs is no waiting.
  def test_waits_that_are_rare_and_long_count
    samples, frequent, rare = samples(1, 1)
    100.times { |number| samples.add(frequent, 0.005, number < 4 ? 0.5 : 0.001, number < 4 ? 2 : 1) }
    1000.times { |number| samples.add(rare, 0.005, number < 3 ? 2 : 0, number < 3 ? 2 : 1) }
    first, second = samples.entries
    assert_equal [[0.04, 100], [0.003, 100]], [first, second].map { |each| [each.waits, each.wait.length] }
    assert_equal [[0.0] * 96, [0.5] * 4], first.wait.each_slice(96).to_a
    assert_in_delta 0.006, second.mean_wait
    model = Cuttle::Tuner::Model.new(Cuttle::Tuner::Profile.new(entries: [first]))
    rate, limit = model.capacity(Cuttle::Tuner::Setting.new)
    assert_in_delta 40, rate, 0.5
    assert_equal :slots, limit
  end

  def test_cpu_times_may_be_those_of_a_busy_process
    samples, frequent, rare = samples(1, 1)
    [frequent, rare].each { |shape| samples.add(shape, 0.002, 0.02, 2) }
    assert_equal [[0.001], [0.02]], samples.entries(warmth: 0.5).first.to_h.values_at(:cpu, :wait)
  end

  def test_waits_that_could_not_be_seen_are_unknown
    samples, frequent, rare = samples(1, 1)
    [frequent, rare].each { |shape| samples.add(shape, 0.001, 0.002, nil) }
    assert_equal 1.0, samples.entries(unlocked: 0.0).first.waits # what an entry assumes that waits
  end

  private

  def samples(*weights)
    shapes = weights.zip(%w[/a /b]).map do |weight, path|
      Shape.new("GET #{path}", [Cuttle::Load::Request.new(path: path, weight: weight)])
    end
    [Samples.new(shapes), *shapes]
  end
end
