# frozen_string_literal: true

require "test_helper"

# Moulds whose processes die at the worst moments of a refork.
class TestMoulds < Minitest::Test
  include Eventually

  Moulds = Cuttle::Cluster::Moulds
  Handover = Cuttle::Cluster::Handover
  Slot = Cuttle::Cluster::Slot

  # What moulds and workers have of the cluster.
  Membership = Struct.new(:settings, :handover, :said) do
    def keep(*) = nil
    def drop(_) = nil
    def pass_on = yield
    def report = ->(line) { said << line }
  end

  # Loads no app.
  class Forge
    def live(commands, _directory)
      commands.read
      exit!(0)
    end
  end

  # Has no processes.
  class Workers
    attr_reader :retired

    def initialize = @retired = []
    def retire(slot, *) = @retired << slot
    def release(_) = nil
    def move(*) = nil
    def staying = []
    def elders = []
  end

  def setup
    skip "there are no subreapers here" unless Cuttle::Cores.fetch("native").adopt_orphans
    @membership = Membership.new(Cuttle::Settings.build(variables: {}), Handover.new, [])
    @workers = Workers.new
    @moulds = Moulds.new(Forge.new, @membership, @workers)
    @moulds.start
    @moulds.hear(@moulds.current.pid)
  end

  def teardown
    return unless @moulds

    @moulds.stop
    eventually("no mould") do
      @moulds.tend(Cuttle.now)
      @moulds.empty?
    end
    @membership.handover.close
  end

  # Its last message and its end arrive together. The supervisor has reaped it as a worker.
  def test_a_worker_that_dies_as_it_becomes_the_mould
    mould = @moulds.current
    slot = worker_that_ended
    @moulds.appoint(slot)
    @moulds.hear(slot.pid)
    refute @moulds.still?
    @moulds.tend(Cuttle.now)
    assert @moulds.still?
    assert_same mould, @moulds.current
    assert_equal ["refork: given up, the old workers stay"], @membership.said
  end

  def test_a_worker_that_can_not_be_asked
    @membership.handover.define_singleton_method(:offer) { |*| raise Errno::EMFILE }
    assert_raises(Errno::EMFILE) { @moulds.appoint(worker_that_ended) }
    assert @moulds.still?
    assert_empty @workers.retired
  end

  # A process without free descriptors is asked.
  def test_a_worker_that_can_not_take_the_pipe
    handover = @membership.handover
    go, went = IO.pipe
    pid = fork { exit!(refused?(handover, go) ? 0 : 1) }
    reader, writer = IO.pipe
    handover.offer(pid, reader)
    went.puts
    assert_equal 0, Process.wait2(pid).last.exitstatus
  ensure
    [go, went, reader, writer].each { |io| io&.close }
  end

  private

  def worker_that_ended
    pid = fork { exit!(0) }
    Process.wait(pid)
    Slot.new(0).tap { |slot| slot.forked(pid) }
  end

  def refused?(handover, go)
    go.gets
    Process.setrlimit(:NOFILE, 0)
    handover.accept
    false
  rescue Errno::EMFILE
    true
  end
end
