# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"

# A journal summed up: quartiles, intervals by pairs, the order of turns; and the work that an app does.
class TestBenchmarkResults < Minitest::Test
  Recipe = Struct.new(:name)

  def setup
    @directory = Dir.mktmpdir
    @journal = Bench::Journal.new(File.join(@directory, "x.jsonl"))
    [100, 200, 400, 800].each.with_index(1) do |rate, round|
      @journal.add("run", name: "base", round: round, figures: { rate: rate })
      @journal.add("run", name: "same", round: round, figures: { rate: rate * 1.5 })
      @journal.add("run", name: "noisy", round: round, figures: { rate: rate * (round.even? ? 1 : 2) })
    end
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

  def test_quartiles
    assert_equal [175, 300, 500], results.quartiles("base", :rate)
    assert_nil results.quartiles("nobody", :rate)
  end

  def test_an_interval_is_that_of_the_ratios_within_rounds
    same = results.interval("same", "base", :rate)
    assert_in_delta 1.5, same.low
    assert_in_delta 1.5, same.high
    noisy = results.interval("noisy", "base", :rate)
    assert_in_delta Math.sqrt(2), noisy.value
    assert_operator noisy.low, :<, 1
    assert_operator noisy.high, :>, 2
    assert_nil results.interval("nobody", "base", :rate)
  end

  def test_columns
    subject = ->(name) { { name: name, versus: "base" } }
    cell = ->(way, name) { Bench::Columns::Column.new("", :rate, 1, 1, way).text(results, subject.call(name)) }
    assert_equal "300.0 [175.0 500.0]", cell.call(:quartiles, "base")
    assert_equal "1.5 [1.5 1.5]", cell.call(:interval, "same")
    assert_equal "1.5", cell.call(:ratio, "same")
    assert_equal "450.0", cell.call(nil, "same")
    assert_equal ["", ""], %i[quartiles interval].map { |way| cell.call(way, "nobody") }
  end

  def test_those_that_are_compared_run_next_to_each_other
    pairs = Array.new(20) { |pair| %w[a b].map { |name| subject("#{name}#{pair}", "a#{pair}") } }.flatten
    order = runner.send(:in_turn, pairs, Random.new(1))
    assert_equal pairs.map(&:name).sort, order.map(&:name).sort
    refute_equal pairs, order
    assert(order.each_slice(2).all? { |one, other| one.versus == other.versus })
  end

  def test_work_of_steps
    assert_equal [5.0, 21.0], Bench::Work.sums("1:4 1:4 1:4 2:9")
    loops = Bench::Work.calibrate(Bench::Cores.new)
    assert_operator loops, :>, 1000
    start = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
    elapsed = Eventually.elapsed { Bench::Work.new("5:10 5:10", loops).call }
    computed = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - start
    assert_operator elapsed, :>, 0.02
    assert_operator computed, :>, 0.001
  end

  private

  def results = Bench::Results.new(@journal)
  def subject(name, versus) = Bench::Plan::Subject.new(recipe: Recipe.new(name), versus: versus)
  def runner = Bench::Runner.new(nil, nil, @journal)
end
