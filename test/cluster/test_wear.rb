# frozen_string_literal: true

require "test_helper"

# Workers that have reached a limit are replaced, one at a time, and no request is lost.
class TestWear < Minitest::Test
  include Serving

  Slot = Cuttle::Cluster::Slot
  Wear = Cuttle::Cluster::Wear

  # Has no processes: a test says which worker is ready, dies or ends.
  class Workers
    attr_reader :staying, :retired

    def initialize(slots)
      @staying = slots
      @retired = []
    end

    def add(mould, index) = Slot.new(index, mould: mould).tap { |slot| @staying += [slot] }
    def include?(slot) = @staying.include?(slot) || @retired.include?(slot)

    def retire(slot)
      @retired |= [slot]
      @staying -= [slot]
    end

    def ended(slot) = @retired.delete(slot)
  end

  def setup
    @said = []
    @workers = Workers.new(Array.new(3) { |index| started(index, requests: 100 * index) })
  end

  def test_without_a_limit_there_is_nothing_to_do
    wear = wear({})
    assert_nil wear.wake_in(0)
    tend(wear, 1_000_000)
    assert_empty @said
  end

  def test_one_at_a_time_and_the_new_one_serves_before_the_old_one_stops
    wear = wear(worker_max_requests: 100)
    tend(wear, 0)
    assert_empty @said
    _, old, other = @workers.staying
    tend(wear, later)
    assert_equal ["worker 1 (pid 101) has served 100 requests: replaced"], @said
    new = wear.relief.pair.last
    assert_equal [1, :mould], [new.index, new.mould]
    tend(wear, later(2))
    assert_empty @workers.retired
    new.ready(0)
    tend(wear, later(2))
    assert_equal [[old], nil], [@workers.retired, wear.relief]
    tend(wear, later(3))
    assert_includes @workers.staying, other
    assert_equal 1, @said.length
    @workers.ended(old)
    2.times { tend(wear, later(4)) }
    assert_equal "worker 2 (pid 102) has served 200 requests: replaced", @said.last
  end

  def test_a_new_worker_that_dies_leaves_the_worn_one
    wear = wear(worker_max_requests: 200)
    tend(wear, later)
    new = wear.relief.pair.last
    new.ended(later)
    tend(wear, now = later(2))
    assert_equal ["the replacement of a worn worker died; the worn worker stays", [new], nil],
                 [@said.last, @workers.retired, wear.relief]
    assert_in_delta Wear::PAUSE, wear.wake_in(now), 1e-6
  end

  def test_it_waits_for_another_restart_and_for_workers_that_begin
    wear = wear(worker_max_requests: 1)
    wear.tend(later, :mould, still: false)
    @workers = Workers.new([Slot.new(0)])
    tend(wear(worker_max_age: 0.001), later)
    assert_empty @said
  end

  def test_memory_is_that_of_the_process
    assert_operator Wear.memory(Process.pid), :>, 1 << 20
    child = fork { exit!(0) }
    Process.wait(child)
    assert_nil Wear.memory(child)
  end

  # Each kind of limit, and requests all the time.
  def test_no_request_is_lost
    { "--worker-max-memory" => ["1M", / has \d+ MB of memory: replaced$/],
      "--worker-max-requests" => ["10", / has served \d+ requests: replaced$/],
      "--worker-max-age" => ["2", / is 2 s old: replaced$/] }.map do |flag, (limit, line)|
      Thread.new { assert_replaced(flag, limit, line) }
    end.each(&:join)
  end

  private

  def wear(limits)
    settings = Struct.new(:worker_max_memory, :worker_max_requests, :worker_max_age, keyword_init: true).new(**limits)
    Wear.new(settings, @workers, ->(line) { @said << line })
  end

  def tend(wear, now) = wear.tend(now, :mould, still: true)

  def later(times = 1) = Cuttle.now + (times * Wear::EVERY)

  def started(index, requests:)
    Slot.new(index).tap do |slot|
      slot.ordered(0)
      slot.forked(100 + index)
      slot.ready(0)
      slot.seen(0, { requests_count: requests })
    end
  end

  def assert_replaced(flag, limit, line)
    flags = ["-w", "2", "-t", "2", "--no-keep-alive", flag, limit]
    serving_process("#{ROOT}/examples/hello.ru", *flags, forked: true) do |process|
      before = nil
      eventually("two workers") { (before = process.workers).length == 2 }
      eventually("a new worker for #{flag}", every: 0.01) do
        assert_equal 200, get(process).status
        (before - process.workers).any? && process.workers.length == 2
      end
      assert_match line, process.err
      assert process.stop.success?, process.err
    end
  end
end
