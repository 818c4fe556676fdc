# frozen_string_literal: true

require "test_helper"
require_relative "../support/lab_fakes"

# What a lab finds out before it makes its plan, on servers of the load generator's own.
class TestLabPilot < Minitest::Test
  include Eventually

  Result = Struct.new(:rate, :good, :statuses)

  def setup
    @native = Cuttle::Load::TestServers::Known.new(:null)
    @interruption = Cuttle::Lab::Runner::Interruption.new
    @tried = []
  end

  def teardown
    @native.close
  end

  def test_it_loads_what_the_control_repeats
    found = nil
    took = elapsed { found = pilot { LabFakes::Server.new(@native.port) } }
    assert_equal ["hybrid -t 5", ["hybrid -t 5"]], [found.configuration, @tried]
    assert_operator found.capacity, :>, 10
    load = Cuttle::Lab::Runner::Pilot::WARMUP + Cuttle::Lab::Runner::Pilot::DURATION
    assert_operator found.start, :<, took - load
  end

  def test_shares_are_round_numbers
    found = Cuttle::Lab::Runner::Pilot::Found.new(0.5, 423.7, "hybrid", 5)
    assert_equal [250, 0.42, 9700], [found.rate(0.6), found.rate(0.001), found.rate(23)]
  end

  def test_there_is_no_share_of_nothing
    found = Cuttle::Lab::Runner::Pilot::Found.new(0.5, 0.0, "hybrid", 5)
    assert_match(/hybrid answered no request of the pilot run in time: increase --timeout, or give --rate as a number/,
                 assert_raises(Cuttle::Lab::Failure) { found.rate(0.6) }.message)
  end

  # Two connections, and responses that take longer than the pilot's run.
  def test_slow_requests_show_a_capacity_too
    slow = Cuttle::Load::TestServers::Known.new(:null, delays: [0.5])
    found = pilot { LabFakes::Server.new(slow.port) }
    assert_includes 0.01..4, found.capacity
    assert_operator found.slot, :>=, 0.5
  ensure
    slow&.close
  end

  # The first start reads files from a disk, and is not what the others take.
  def test_a_start_that_takes_long_is_measured_again
    assert_equal [[2.0, 2], [3.0, 1]], [[12.0, 2.0], [3.0, 9.0]].map { |seconds| [start(*seconds), @tried.length] }
  end

  def test_if_it_does_not_start_another_one_has_to_do
    found = pilot do |configuration|
      raise Cuttle::Lab::Failure, "no" if configuration.model == "hybrid"

      LabFakes::Server.new(@native.port)
    end
    assert_equal "single", found.configuration
  end

  def test_if_the_app_refuses_its_requests_another_one_has_to_do
    refused = Result.new(1000.0, 0, { 404 => 400 })
    answered = Result.new(1000.0, 400, { 200 => 400 })
    load = ->(*, **) { @tried.length == 1 ? refused : answered }
    assert_equal "single", pilot(generation: load) { LabFakes::Server.new(1) }.configuration
    error = assert_raises(Cuttle::Lab::Failure) { pilot(generation: ->(*, **) { refused }) { LabFakes::Server.new(1) } }
    assert_equal "nothing could be measured: / was answered with status 404", error.message
  end

  def test_nothing_starts
    error = assert_raises(Cuttle::Lab::Failure) { pilot { raise Cuttle::Lab::Failure, "no database here" } }
    assert_equal "nothing could be measured: no database here", error.message
  end

  def test_an_interrupt
    assert_nil(pilot do
      @interruption.ask
      LabFakes::Server.new(@native.port)
    end)
    assert_equal 1, @tried.length
  end

  private

  # The seconds of a start, where the first and the second one take so many. Loads take 5 s.
  def start(*seconds)
    @tried.clear
    now = 0.0
    load = lambda do |*, **|
      now += 5
      Result.new(1000.0, 400, { 200 => 400 })
    end
    Cuttle.stub(:now, -> { now }) do
      pilot(generation: load) { (now += seconds.shift) && LabFakes::Server.new(1) }.start
    end
  end

  def pilot(**options)
    plan = Cuttle::Lab::Plan.build(Cuttle::Lab::Options.new(seed: 1), peers: LabFakes::Peers.new)
    testbed = LabFakes::Testbed.new do |configuration|
      @tried << configuration.name
      yield configuration
    end
    Cuttle::Lab::Runner::Pilot.new(plan, testbed, Cuttle::Lab::Machine::Cores.new, connections: 2,
                                                                                   interruption: @interruption,
                                                                                   **options).call
  end
end
