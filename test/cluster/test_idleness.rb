# frozen_string_literal: true

require "test_helper"

# --no-keep-mould: the mould ends while no worker has to be forked.
class TestIdleness < Minitest::Test
  include Serving

  Idleness = Cuttle::Cluster::Idleness

  # One mould, which may be let to rest.
  class Moulds
    attr_accessor :renewable, :awake
    attr_reader :rests

    def initialize
      @renewable = @awake = true
      @rests = 0
    end

    def renewable? = @renewable
    def awake? = @awake

    def rest
      @rests += 1
      @awake = false
    end
  end

  Workers = Struct.new(:all) do
    def ready? = all
  end

  APP = "run ->(_) { [200, {}, [Process.pid.to_s]] }\n"

  def setup
    @moulds = Moulds.new
    @workers = Workers.new(true)
  end

  def test_it_ends_when_all_workers_have_served_for_a_while
    idleness = idleness()
    idleness.tend(0, still: true)
    assert_equal [0, Idleness::AFTER], [@moulds.rests, idleness.wake_in(0)]
    idleness.tend(Idleness::AFTER, still: true)
    assert_equal 1, @moulds.rests
    idleness.tend(2 * Idleness::AFTER, still: true)
    assert_equal [1, nil], [@moulds.rests, idleness.wake_in(2 * Idleness::AFTER)]
  end

  # Something is under way, or a worker is missing: the time begins again.
  def test_it_stays_while_it_is_needed
    idleness = idleness()
    idleness.tend(0, still: true)
    idleness.tend(4, still: false)
    assert_nil idleness.wake_in(4)
    idleness.tend(Idleness::AFTER, still: true)
    @workers.all = false
    idleness.tend(Idleness::AFTER + 4, still: true)
    @workers.all = true
    idleness.tend(2 * Idleness::AFTER, still: true)
    assert_equal [0, Idleness::AFTER], [@moulds.rests, idleness.wake_in(2 * Idleness::AFTER)]
  end

  def test_it_stays_by_default_and_where_the_supervisor_is_the_mould
    @moulds.renewable = false
    [idleness, idleness(keep: true)].each do |idleness|
      [0, 100].each { |now| idleness.tend(now, still: true) }
      assert_nil idleness.wake_in(0)
      @moulds.renewable = true
    end
    assert_equal 0, @moulds.rests
  end

  def test_settings
    assert Cuttle::Settings.build(variables: {}).keep_mould
    refute Cuttle::Settings.build(variables: {}, keep_mould: false).keep_mould if Cuttle::Cores.default == "native"
    error = assert_raises(Cuttle::UsageError) { Cuttle::Settings.build(variables: {}, keep_mould: false, core: "pure") }
    assert_match(/\A--no-keep-mould needs/, error.message)
  end

  # A worker that dies has a successor, from a mould that ends again.
  def test_the_next_mould_is_there_when_a_worker_has_to_be_forked
    cluster do |process|
      without_mould(process)
      before = process.workers
      Process.kill("KILL", before.first)
      eventually("a successor") { (process.workers - before).length == 1 && process.workers.length == 2 }
      without_mould(process)
      assert_includes process.workers.map(&:to_s), get(process).body
      assert process.stop.success?, process.err
    end
  end

  # Added workers, a phased restart, and a stop while there is no mould.
  def test_signals_without_a_mould
    cluster do |process|
      without_mould(process)
      Process.kill("TTIN", process.pid)
      eventually("a third worker") { process.workers.length == 3 }
      without_mould(process)
      before = process.workers
      Process.kill("USR1", process.pid)
      eventually("new workers", within: 60) { process.workers.length == 3 && !process.workers.intersect?(before) }
      without_mould(process)
      assert process.stop.success?, process.err
    end
  end

  private

  def idleness(keep: false)
    Idleness.new(Struct.new(:keep_mould).new(keep), @workers, @moulds)
  end

  def cluster
    skip "there are no moulds here" unless Cuttle::Cores.fetch(Cuttle::Cores.default).adopt_orphans
    Dir.mktmpdir("cuttle") do |directory|
      File.write("#{directory}/config.ru", APP)
      serving_process("#{directory}/config.ru", "-w", "2", "--no-keep-mould", forked: true) { |process| yield process }
    end
  end

  def without_mould(process)
    eventually("no mould, two workers or more", within: 60) { process.moulds.empty? && process.workers.length >= 2 }
  end
end
