# frozen_string_literal: true

require "test_helper"
require_relative "../support/lab_fakes"

# Requests that an app does not know.
class TestLabRefusal < Minitest::Test
  Result = Struct.new(:good, :statuses)
  Route = Struct.new(:url)
  Plan = Struct.new(:warmup)
  Failure = Cuttle::Lab::Failure
  URL = "http://127.0.0.1:9292/missing?a=b"

  def test_a_path_that_is_not_there
    assert_equal "/missing?a=b was answered with status 404", refusal(Result.new(0, { 404 => 9 }))
  end

  def test_a_mix_that_is_refused
    assert_equal "all requests of the mix were answered with status 401, 403",
                 refusal(Result.new(0, { 403 => 1, 401 => 2 }), mix: "requests.jsonl")
  end

  # A status that a mix expects is good.
  def test_what_is_no_refusal
    [[1, { 404 => 9, 200 => 1 }], [9, { 404 => 9 }], [0, { 500 => 9 }], [0, { 404 => 8, 503 => 1 }], [0, {}]]
      .each { |figures| assert_nil Cuttle::Lab::Runner::Refusal.check(Result.new(*figures), URL) }
  end

  # In the first piece of the warm-up. Other servers may answer, so it is a failure of this one.
  def test_a_trial_of_what_is_refused_fails
    load = Cuttle::Lab::Results::LoadSpec.new("id" => "l1", "loop" => "closed", "connections" => 1)
    configuration = Cuttle::Lab::Results::Configuration.new("id" => "c1", "keep_alive" => false)
    pieces = 0
    generator = ->(*, **) { (pieces += 1) && Result.new(0, { 404 => 1 }) }
    trial = Cuttle::Lab::Runner::Trial.new(server: nil, load: load, testbed: LabFakes::Testbed.new, cores: nil,
                                           plan: Plan.new(1.0), speed: nil, generator: generator)
    assert_raises(Failure) { trial.run(configuration, Route.new(URL)) }
    assert_equal 1, pieces
  end

  private

  def refusal(result, **options)
    assert_raises(Failure) { Cuttle::Lab::Runner::Refusal.check(result, URL, **options) }.message
  end
end
