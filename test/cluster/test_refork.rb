# frozen_string_literal: true

require "test_helper"
require "securerandom"

# --refork-after: a warm worker becomes the process that workers are forked from, and no request is lost.
class TestRefork < Minitest::Test
  include Serving
  include TemporaryDirectory

  Slot = Cuttle::Cluster::Slot
  Refork = Cuttle::Cluster::Refork

  # Has no processes: a test says which worker is ready, dies or becomes a mould.
  class Workers
    attr_reader :staying, :retired

    def initialize(slots)
      @staying = slots
      @retired = []
    end

    def add(mould, index) = Slot.new(index, mould: mould).tap { |slot| @staying += [slot] }
    def include?(slot) = @staying.include?(slot) || @retired.include?(slot)
    def ended(slot) = @retired.delete(slot)

    def retire(slot)
      @retired |= [slot]
      @staying -= [slot]
    end
  end

  # Moulds without processes.
  class Moulds
    Mould = Struct.new(:pid) do
      def loaded = @loaded = true
      def loaded? = @loaded
    end

    attr_accessor :current, :renewable
    attr_reader :appointed

    def initialize(workers)
      @workers = workers
      @current = Mould.new(1)
      @renewable = true
    end

    def renewable? = @renewable
    def dismiss = @appointed = nil

    def appoint(slot)
      @workers.retire(slot)
      @appointed = Mould.new(slot.pid)
    end

    # As after a refork whose first worker serves.
    def advance
      @workers.ended(@workers.retired.last)
      @appointed.loaded
      @current = @appointed
    end
  end

  APP = <<~RUBY
    run ->(_) { [200, {}, [Process.pid.to_s]] }
  RUBY

  def setup
    @said = []
  end

  # The policy

  def test_without_a_limit_there_is_nothing_to_do
    make([1_000_000])
    refork = refork()
    refork.tend(later, still: true)
    assert_nil refork.wake_in(0)
    assert refork.over?
    assert_empty @said
  end

  def test_the_warmest_worker_is_asked_when_another_serves_in_its_place
    make([10, 30, 20])
    refork = refork(25)
    old = @workers.staying[1]
    refork.tend(later, still: false)
    assert_empty @said
    refork.tend(later(3), still: true)
    assert_equal ["refork: worker 1 (pid 101) has served 30 requests: it will become the mould"], @said
    assert_equal [old, nil], [refork.relief.pair.first, @moulds.appointed]
    refork.relief.pair.last.ready(0)
    refork.tend(later, still: true)
    assert_equal [101, nil, false], [@moulds.appointed.pid, refork.relief, refork.still?]
    @moulds.advance
    refork.tend(later, still: true)
    assert refork.still?
  end

  def test_each_generation_has_its_limit
    make([20, 5])
    refork = refork(10, 40, 0)
    refute refork.over?
    succeed(refork)
    replace_workers([39, 39])
    refork.tend(later(2), still: true)
    assert refork.still?
    replace_workers([41, 39])
    succeed(refork)
    replace_workers([1_000_000])
    refork.tend(later(9), still: true)
    assert refork.still?, "none was to be the last"
    assert refork.over?
    @moulds.current = Moulds::Mould.new(7) # a phased restart
    replace_workers([10])
    refork.tend(later(12), still: true)
    refute refork.still?
    refute refork.over?
  end

  def test_after_three_in_vain_the_mould_stays
    make([20, 20, 20, 20])
    refork = refork(10)
    3.times { |time| fail_once(refork, later(100 * (time + 1))) }
    assert_equal "refork: given up, the mould stays; no other worker is asked before the next phased restart",
                 @said.last
    refork.tend(later(1000), still: true)
    assert refork.still?
    assert refork.over?
  end

  # The supervisor or the system has no descriptors left. The worker leaves, because another one has its place.
  def test_a_worker_that_can_not_be_asked
    make([20])
    refork = refork(10)
    @moulds.define_singleton_method(:appoint) { |_| raise Errno::EMFILE }
    refork.tend(later, still: true)
    old, new = refork.relief.pair
    new.ready(0)
    refork.tend(later, still: true)
    assert_equal [[old], false], [@workers.retired, refork.still?]
    assert_match(/\Arefork: can't ask worker 0 \(pid 100\)/, @said.last)
    @workers.ended(old)
    refork.tend(later, still: true)
    assert refork.still?
    assert_equal "refork: given up, the mould stays", @said.last
  end

  def test_a_phased_restart_ends_it
    make([20])
    refork = refork(10)
    refork.tend(later, still: true)
    new = refork.relief.pair.last
    refork.abandon
    assert_equal [[new], true], [@workers.retired, refork.still?]
  end

  def test_without_a_subreaper_one_line
    make([20])
    @moulds.renewable = false
    refork = refork(10)
    2.times { refork.tend(later, still: true) }
    assert_equal 1, @said.length
    assert_nil refork.wake_in(0)
  end

  def test_settings
    { "50" => [50], "50,100" => [50, 100], "50, 1000,none" => [50, 1000, 0],
      [5, 6] => [5, 6], 7 => [7], [8, false] => [8, 0], "none" => [], 0 => [] }.each do |given, counts|
      assert_equal counts, Cuttle::Settings.build(variables: {}, refork_after: given).refork_after
    end
    ["", "none,5", "x", "-1", "0,5"].each do |wrong|
      assert_raises(Cuttle::UsageError, wrong) { Cuttle::Settings.build(variables: {}, refork_after: wrong) }
    end
    assert_raises(Cuttle::UsageError) { Cuttle::Settings.build(variables: {}, refork_after: 5, core: "pure") }
  end

  # The processes

  def test_no_request_is_lost
    engines = ENGINES.to_h { |engine| [engine, %w[--no-keep-alive]] }
    engines.map { |engine, flags| Thread.new { assert_reforked(engine, *flags) } }.each(&:join)
  end

  # Twice, and the hooks of each process in their order; a connection that a worker has opened is closed by one.
  def test_hooks_and_generations
    database = TCPServer.new("127.0.0.1", 0)
    configure <<~RUBY
      note = ->(word) { File.write("#{@directory}/\#{Process.pid}", "\#{word}\\n", mode: "a") }
      before_fork { note["fork"] }
      before_worker_boot { |index| note["boot \#{index}"] }
      before_worker_shutdown { |index| note["shutdown \#{index}"] }
      before_refork { note["refork"]; $database&.close }
    RUBY
    app = "run ->(_) { $database ||= TCPSocket.new('127.0.0.1', #{database.local_address.ip_port}); [200, {}, ['x']] }"
    serve(app, "-w", "1", "--refork-after", "1,1,none", config: true) do |process|
      first = process.moulds
      seconds = reforked(process)
      thirds = reforked(process, times: 2)
      assert_equal 3, [first, seconds, thirds].uniq.length
      assert_equal ["fork"], notes(first)
      assert_equal ["boot 0", "shutdown 0", "refork"], notes(seconds)
      assert_equal ["boot 0", "shutdown 0", "refork"], notes(thirds)
      closed = Array.new(2) { database.accept }
      assert_equal([nil, nil], closed.map { |connection| connection.read(1) })
      assert process.stop.success?
    end
  ensure
    database&.close
  end

  def test_a_thread_of_the_app
    ["Thread.new { sleep }", "Thread.new { sleep }.thread_variable_set(:fork_safe, true)"].map do |thread|
      app = "begun = false; run ->(_) { begun ||= (#{thread}; true); [200, {}, ['x']] }"
      Thread.new do
        serve(app, "-w", "2", "--refork-after", "5") do |process|
          thread.include?("fork_safe") ? reforked(process) : assert_given_up(process, /has a thread there: \S+:1;/)
        end
      end
    end.each(&:join)
  end

  # The process that was to be the mould dies, raises, or does not come to an end.
  def test_a_mould_that_fails_leaves_the_old_one
    { "exit!(3)" => nil, "raise 'broken'" => /before_refork: broken/,
      "sleep" => /did not end in time/ }.map do |code, line|
      configuration = configure("before_refork { #{code} }", SecureRandom.hex(4))
      Thread.new do
        serve(APP, "-w", "2", "--refork-after", "5", "--shutdown-timeout", "1", config: configuration) do |process|
          assert_given_up(process, line)
        end
      end
    end.each(&:join)
  end

  # A worker of the new mould dies at its boot.
  def test_a_mould_whose_workers_fail_leaves_the_old_one
    configure("warm = false\nbefore_refork { warm = true }\nbefore_worker_boot { exit!(3) if warm }")
    serve(APP, "-w", "2", "--refork-after", "5", config: true) do |process|
      mould = process.moulds
      asking(process, "its end") { process.err.include?("refork: given up, the old workers stay") }
      eventually("the old mould alone") { process.moulds == mould && process.workers.length == 2 }
      assert_equal 200, get(process).status
    end
  end

  # Other restarts, from a mould that was a worker.
  def test_phased_and_hot_restarts_after_it
    serve(APP, "-w", "2", "--refork-after", "5,none", forked: false) do |process|
      mould = reforked(process)
      Process.kill("TTIN", process.pid)
      eventually("a third worker") { process.workers.length == 3 }
      Process.kill("KILL", *mould)
      eventually("another mould") { process.moulds.length == 1 && process.moulds != mould }
      Process.kill("USR1", process.pid)
      eventually("a phased restart") { process.err.include?("phased restart: done") }
      before = process.workers
      Process.kill("USR2", process.pid)
      eventually("a hot restart") { process.workers.length == 2 && !process.workers.intersect?(before) }
      assert_equal 200, get(process).status
      assert process.stop.success?
    end
  end

  private

  def refork(*limits)
    Refork.new(Struct.new(:refork_after).new(limits), @workers, @moulds, ->(line) { @said << line })
  end

  def make(requests)
    @workers = Workers.new([])
    @moulds = Moulds.new(@workers)
    replace_workers(requests)
  end

  def replace_workers(requests)
    slots = requests.each_with_index.map { |count, index| started(index, count) }
    @workers.staying.replace(slots)
  end

  def started(index, requests)
    Slot.new(index, mould: @moulds.current).tap do |slot|
      slot.ordered(0)
      slot.forked(100 + index)
      slot.ready(0)
      slot.seen(0, { requests_count: requests })
    end
  end

  def later(times = 1) = Cuttle.now + (times * Refork::EVERY) + 1

  def succeed(refork)
    refork.tend(later(20), still: true)
    refork.relief.pair.last.ready(0)
    refork.tend(later, still: true)
    @moulds.advance
    refork.tend(Cuttle.now - 100, still: true)
  end

  def fail_once(refork, now)
    refork.tend(now, still: true)
    old, new = refork.relief.pair
    new.ready(0)
    refork.tend(now, still: true)
    @workers.ended(old)
    refork.tend(now, still: true)
  end

  def configure(text, name = "cuttle")
    "#{@directory}/#{name}.rb".tap { |path| File.write(path, text) }
  end

  def serve(app, *args, config: nil, forked: true)
    path = "#{@directory}/#{SecureRandom.hex(4)}.ru"
    File.write(path, app)
    config = "#{@directory}/cuttle.rb" if config == true
    serving_process(path, *args, *(["-C", config] if config), forked: forked) do |process|
      process.mould(Integer(args[args.index("-w") + 1]))
      yield process
    end
  end

  def notes(pids) = File.readlines("#{@directory}/#{pids.first}", chomp: true)

  # Asks until the block is true; each answer must be right.
  def asking(process, what)
    eventually(what, every: 0.01) do
      assert_equal 200, get(process).status
      yield
    end
  end

  # Waits until it has finished that many reforks. Returns the pids of moulds, of which there is one.
  def reforked(process, times: 1)
    asking(process, "the end of a refork (#{process.err})") { process.err.scan("refork: done").length == times }
    eventually("one mould") { process.moulds.length == 1 }
    process.moulds
  end

  def assert_given_up(process, line)
    mould = process.moulds
    asking(process, "its end") { process.err.include?("refork: given up") }
    left = -> { "two workers (#{process.workers}), the mould #{mould} (#{process.moulds}): #{process.err}" }
    eventually(left) { process.workers.length == 2 && process.moulds == mould }
    assert_match line, process.err if line
    assert_equal 200, get(process).status
  end

  # A worker has become the mould, all workers are new, and each answer came while that happened.
  def assert_reforked(engine, *flags)
    serve(APP, "-w", "2", "--engine", engine, "--refork-after", "20,none", *flags) do |process|
      mould = process.moulds
      workers = process.workers
      reforked(process)
      assert_includes workers, process.moulds.first, engine
      refute_equal mould, process.moulds
      eventually("two new workers") { process.workers.length == 2 && !process.workers.intersect?(workers) }
      assert process.stop.success?, process.err
    end
  end
end
