# frozen_string_literal: true

require "test_helper"
require "json"
require "tempfile"

# Arrival schedules: what they say, and when the native half sends.
class TestLoadSchedules < Minitest::Test
  Schedules = Cuttle::Load::Schedules
  Parts = Cuttle::Load::Parts
  Statistics = Cuttle::Load::Statistics

  def arrivals(schedule, seed: 1, part: 0, parts: 1, most: 100_000)
    Parts.arrivals(schedule.shape, seed, part, parts, most).map { |nanoseconds| nanoseconds / 1e9 }
  end

  def test_constant_rate
    times = arrivals(Schedules.build(rate: 100), most: 1000)

    times.each_with_index { |time, index| assert_in_delta index / 100.0, time, 1e-6 }
  end

  def test_steps
    schedule = Schedules.build(steps: "100,200,400:2s")
    times = arrivals(schedule)

    assert_equal 6, schedule.length
    assert_equal [200, 400, 800], [0...2, 2...4, 4...6].map { |range| times.count { |time| range.cover?(time + 1e-9) } }
    assert_equal [100, 400, 1400], [1, 3, 6].map { |time| schedule.offered(time) }
  end

  # Arrival k of a ramp from 0 to r in d seconds is at sqrt(2 k d / r).
  def test_ramp
    schedule = Schedules.build(ramp: "0..1000:10s")
    times = arrivals(schedule)

    assert_equal 5000, times.length
    times.each_with_index { |time, index| assert_in_delta Math.sqrt(2 * index * 10 / 1000.0), time, 1e-6 }
    assert_in_delta 1250, schedule.offered(5), 1e-6
  end

  def test_ramp_downwards
    times = arrivals(Schedules.build(ramp: [1000, 0, 10]))

    assert_equal 5000, times.length
    assert_equal times.sort, times
    assert_equal 3750, times.count { |time| time < 5 }
  end

  def test_trace
    schedule = Schedules.build(trace: [0.5, 0.1, 2, 2])

    assert_equal [0.1, 0.5, 2.0, 2.0], arrivals(schedule)
    assert_equal [0, 1, 4], [0.05, 0.2, 2.001].map { |time| schedule.offered(time) }
  end

  def test_trace_from_a_file
    Tempfile.create("trace") do |file|
      file.write("# arrivals\n0.25\n\n1.5 # late\n")
      file.close

      assert_equal [0.25, 1.5], Schedules.build(trace: file.path).times
      File.write(file.path, "0.25\nsoon\n")
      error = assert_raises(Cuttle::UsageError) { Schedules.build(trace: file.path) }
      assert_includes error.message, "#{file.path}:2: a time in seconds, not \"soon\""
    end
  end

  # As of times of day; the next ones are beyond what the clock can hold.
  def test_times_that_are_too_far_away
    error = assert_raises(Cuttle::UsageError) { Schedules.build(trace: [1_764_533_400.5]) }

    assert_includes error.message, "seconds after the beginning of the run, 0 to 1000000, not 1764533400.5"
    assert_equal [0.0], arrivals(Schedules.build(rate: 1e-10), most: 5)
    assert_equal 2, arrivals(Schedules::Trace.new([0.5, 1.0, 1e300]), most: 5).length
  end

  def test_a_trace_in_any_encoding
    Tempfile.create("trace") do |file|
      file.write("0.5 # sp\xE4t\n1\n\xFF\n")
      file.close
      error = assert_raises(Cuttle::UsageError) { Schedules.build(trace: file.path) }

      assert_includes error.message, "#{file.path}:3: a time in seconds, not \"\\xFF\""
    end
  end

  def test_threads_together_send_what_one_would
    [{ rate: 1000 }, { ramp: [10, 500, 4] }, { steps: [[50, 700], 1] },
     { trace: (0..50).map { |index| index / 7.0 } }].each do |options|
      schedule = Schedules.build(**options)
      alone = arrivals(schedule, most: 600)
      together = (0..2).flat_map { |part| arrivals(schedule, part: part, parts: 3, most: 600) }.sort.first(alone.length)

      alone.zip(together) { |one, other| assert_in_delta one, other, 1e-6, options.inspect }
    end
  end

  def poisson_gaps(parts, seed: 5)
    schedule = Schedules.build(rate: 1000, poisson: true)
    times = (0...parts).flat_map do |part|
      arrivals(schedule, seed: seed, part: part, parts: parts, most: 20_000 / parts + 1000)
    end
    times.sort.first(20_000).each_cons(2).map { |one, other| other - one }
  end

  def test_poisson_gaps_are_exponential
    [1, 4].each do |parts|
      gaps = poisson_gaps(parts)
      mean = Statistics.mean(gaps)
      _, chance = Statistics.kolmogorov_smirnov(gaps) { |gap| 1 - Math.exp(-gap * 1000) }

      assert_in_delta 0.001, mean, 0.00003
      assert_in_delta 1.0, Statistics.deviation(gaps) / mean, 0.03
      assert_operator chance, :>, 0.001
    end
  end

  # Pearson's chi-square of the counts in 18 equal intervals, against the critical value for 17 degrees of freedom at
  # 0.001 (NIST/SEMATECH e-Handbook, 1.3.6.7.4).
  def test_poisson_counts
    times = poisson_gaps(2).reduce([0.0]) { |sums, gap| sums << sums.last + gap }
    counts = times.group_by(&:floor).select { |second,| second < 18 }.map { |_, group| group.length }

    assert_equal 18, counts.length
    assert_operator counts.sum { |count| (count - 1000)**2 / 1000.0 }, :<, 40.790
  end

  def test_poisson_of_a_ramp
    times = arrivals(Schedules.build(ramp: [0, 2000, 10], poisson: true))

    assert_in_delta 10_000, times.length, 400
    assert_in_delta 2500, times.count { |time| time < 5 }, 200
  end

  def test_a_seed_repeats_arrivals
    schedule = Schedules.build(rate: 10, poisson: true)

    assert_equal arrivals(schedule, seed: 7, most: 50), arrivals(schedule, seed: 7, most: 50)
    refute_equal arrivals(schedule, seed: 7, most: 50), arrivals(schedule, seed: 8, most: 50)
  end

  def test_wrong_schedules_are_refused
    [{ rate: 0 }, { rate: "fast" }, { rate: -1 }, { rate: 1, ramp: [0, 1, 1] }, { poisson: true }, { steps: "100,200" },
     { steps: "0:10s" },
     { steps: ":10s" }, { ramp: "10:5s" }, { ramp: "0..0:5s" }, { ramp: "0..5:0s" }, { trace: [] }, { trace: [-1] },
     { trace: "/no/such/file" }, { trace: [1], poisson: true }].each do |options|
      assert_raises(Cuttle::UsageError, options.inspect) { Schedules.build(**options) }
    end
  end

  def test_they_say_what_they_are
    assert_equal "closed loop", Schedules.build.to_s
    assert_equal "1,000/s", Schedules.build(rate: "1k").to_s
    assert_equal "0.25/s", Schedules.build(rate: 0.25).to_s
    assert_equal "0.5 to 2.5/s in 60 s", Schedules.build(ramp: "0.5..2.5:1m").to_s
    assert_equal "Poisson, 1,000/s", Schedules.build(rate: 1000, poisson: true).to_s
    assert_equal "100, 200, 200/s for 10 s each", Schedules.build(steps: "100,200,200:10s").to_s
    assert_equal "0 to 1,000/s in 60 s", Schedules.build(ramp: "0..1000:1m").to_s
  end

  def test_they_survive_a_journey
    [Schedules.build, Schedules.build(rate: 5, poisson: true), Schedules.build(ramp: [1, 2, 3]),
     Schedules.build(trace: [1, 2])].each do |schedule|
      copy = Schedules.load(JSON.parse(JSON.generate(schedule.to_h)))

      assert_equal schedule.to_s, copy.to_s
      assert_equal schedule.shape, copy.shape if schedule.open?
    end
  end
end
