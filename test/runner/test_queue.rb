# frozen_string_literal: true

require "test_helper"
require_relative "queue"

# Which tests a process runs next.
class TestQueue < Minitest::Test
  # Suites that never run, with tests of so many seconds.
  def queue(suites)
    seconds = suites.flat_map { |suite, tests| tests.map { |test, time| ["#{suite.name}##{test}", time] } }
    Runner::Queue.new(Runner::Timings.new(seconds.to_h)).tap do |queue|
      suites.each { |suite, tests| tests.each_key { |test| queue.add(suite, test) } }
    end
  end

  def suite(name, tests, order: :random)
    Class.new do
      define_singleton_method(:name) { name }
      define_singleton_method(:to_s) { name }
      define_singleton_method(:test_order) { order }
      tests.each_key { |test| define_method(test) { nil } }
    end
  end

  def test_the_longest_suite_and_its_longest_test_come_first
    short, long = { "a" => 0.5 }, { "b" => 1, "c" => 9, "d" => 3, "e" => 20 }
    short, long = [["Short", short], ["Long", long]].map { |name, tests| [suite(name, tests), tests] }
    queue = queue([short, long].to_h)
    assert_same long.first, queue.suite
    assert_equal %w[e c d b], Array.new(4) { queue.test(long.first) }
    assert_same short.first, queue.suite
  end

  def test_a_suite_that_would_end_late_is_shared
    assert_equal %w[Long Long], chosen(30)
    assert_equal %w[Long Short], chosen(30, order: :alpha)
  end

  # There is enough else to do, or too little of it.
  def test_other_suites_are_not
    assert_equal %w[Long Short], chosen(30, others: 60 * Runner::Crew::LEAST)
    assert_equal %w[Long Short], chosen(1)
  end

  private

  # The suites of the first two processes: one takes +seconds+, and many take +others+ altogether.
  def chosen(seconds, others: 0.5, order: :random)
    tests = (1..4).to_h { |number| ["test_#{number}", seconds / 4.0] }
    few = { "test" => others / 100.0 }
    suites = { suite("Long", tests, order: order) => tests }
    100.times { suites[suite("Short", few)] = few }
    queue = queue(suites)
    Array.new(2) { queue.suite.tap { |each| queue.test(each) }.name }
  end
end
