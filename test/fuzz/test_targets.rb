# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require_relative "../../fuzz/mutate"
require_relative "../../fuzz/totals"

# The fuzz targets in Ruby: their seeds and a number of mutations keep all properties, and a defect breaks one.
class TestFuzzTargets < Minitest::Test
  RUNS = { "ranges" => 3000, "conditions" => 3000, "paths" => 1000 }.freeze
  Static = Cuttle::Static

  RUNS.each do |name, runs|
    define_method("test_#{name}") do
      mutator = explore(name, runs)
      assert_equal runs + Fuzz.load_target(name)::SEEDS.size, mutator.runs
    end
  end

  def test_a_range_beyond_the_end_is_found
    assert_found("ranges", "each range lies inside") do |explore|
      replacing(Static::Ranges, :parse, ->(_, size) { [0..size] }) { explore.call }
    end
  end

  def test_ranges_that_are_lost_are_found
    assert_found("ranges", "not kept") do |explore|
      replacing(Static::Ranges, :coalesce, ->(ranges) { ranges.first(1) }) { explore.call }
    end
  end

  def test_a_name_that_is_decoded_twice_is_found
    decode = Static::Path.method(:decode).unbind
    twice = ->(path) { decode.bind_call(self, path)&.then { |name| name.gsub(/%(\h\h)/n) { $1.hex.chr } } }
    assert_found("paths", "not kept") { |explore| replacing(Static::Path, :decode, twice) { explore.call } }
  end

  def test_an_exception_is_found
    broken = ->(_) { raise ArgumentError, "out of range" }
    assert_found("conditions", "out of range") do |explore|
      replacing(Static::HttpDate, :parse, broken) { explore.call }
    end
  end

  # By the clock of processor time, which is put forward instead of computing for so long.
  def test_what_takes_long_is_found
    clock = Process.method(:clock_gettime)
    spent = 0
    later = ->(id, *unit) { clock.call(id, *unit) + (id == Process::CLOCK_PROCESS_CPUTIME_ID ? spent : 0) }
    slow = ->(_) { (spent += 2 * Fuzz::LONGEST) && nil }
    assert_found("conditions", "takes little time") do |explore|
      replacing(Static::HttpDate, :parse, slow) { Process.stub(:clock_gettime, later) { explore.call } }
    end
  end

  def test_a_run_is_the_same_again
    assert_equal explore("ranges", 300).summary, explore("ranges", 300).summary
  end

  def test_totals_go_on_from_run_to_run
    Dir.mktmpdir do |directory|
      file = "#{directory}/head.json"
      assert_equal "head: never run", Fuzzing::Totals.new("head", file).to_s
      runs = ["cov: 1 ft: 2 corp: 3/4b\nstat::number_of_executed_units: 9",
              "cov: 4 ft: 5 corp: 6/7b\nstat::number_of_executed_units: 5"]
      totals = runs.map { |run| Fuzzing::Totals.new("head", file).add(run, seconds: 3600, cpu_seconds: 1800) }.last
      assert_equal [14, 3600.0], [totals.executions, totals.cpu_seconds]
      assert_equal "head: 5 executions in 3600 s; 4 edges, 5 features, 6 inputs; over all 2 runs 14 executions in " \
                   "1.00 h of processor time (2.00 h passed)", totals.to_s
      assert_equal ["#{directory}/head.json"], Dir["#{directory}/*"]
    end
  end

  private

  def explore(name, runs)
    target = Fuzz.load_target(name)
    mutator = Fuzz::Mutator.new(target)
    target::SEEDS.each { |seed| mutator.try(seed) }
    mutator.mutate { (runs -= 1) >= 0 }
    mutator
  end

  # That the target finds what the block plants around the Proc that it is given.
  def assert_found(name, message)
    error = assert_raises(Fuzz::Violation) { yield -> { explore(name, 500) } }
    assert_includes error.message, message
  end

  # With a module's method replaced.
  def replacing(mod, name, body)
    singleton = mod.singleton_class
    original = singleton.instance_method(name)
    visibility = singleton.private_method_defined?(name) ? :private : :public
    silently { singleton.define_method(name, &body) }
    yield
  ensure
    silently { singleton.define_method(name, original) }
    singleton.send(visibility, name)
  end

  def silently
    verbose = $VERBOSE
    $VERBOSE = nil
    yield
  ensure
    $VERBOSE = verbose
  end
end
