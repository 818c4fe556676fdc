# frozen_string_literal: true

require "test_helper"
require_relative "../lab/support/synthetic_lab"
require_relative "support/made_up"

class TestQuestion < Minitest::Test
  include MadeUp

  def ask(text, base = setting("hybrid", 2, 5))
    Tuner::Question.new(text, base: base)
  end

  def test_what_a_question_leaves_out_stays_as_before
    assert_equal setting("hybrid", 4, 5), ask("workers=4").setting
    assert_equal setting("fibers", 2), ask("engine=fibers").setting
    question = ask("workers=0, threads=3, cores=4")
    assert_equal [setting("hybrid", 0, 3), 4], [question.setting, question.cores]
    assert_equal "hybrid -t 3, 4 cores", question.name
    assert_equal "hybrid -w 2 -t 5, 1 core, waiting 2x", ask("cores=1,wait=2x").name
  end

  def test_threads_auto
    assert_equal auto(2), ask("threads=auto").setting
    assert_equal "hybrid -w 4 -t auto", ask("workers=4,threads=auto").name
    assert_equal auto(4, 12), ask("workers=4", auto(2, 12)).setting
    assert_equal setting("hybrid", 2, 3), ask("threads=3", auto(2, 12)).setting
    assert_equal setting("fibers", 2), ask("engine=fibers", auto(2)).setting
    error = assert_raises(Cuttle::UsageError) { ask("engine=threads", auto(2)) }
    assert_equal "threads: engine threads takes a number, not auto", error.message
  end

  def test_demands
    otherwise = Tuner::Demand.open(10.0)
    assert_equal otherwise, ask("workers=4").demand(otherwise)
    assert_equal Tuner::Demand.open(2500.0), ask("rate=2.5k").demand(otherwise)
    assert_equal Tuner::Demand.closed(20), ask("connections=20").demand(otherwise)
  end

  def test_circumstances_change_the_profile
    before = profile(cpu: [0.001, 0.003], wait: 0.01, corrections: [{ "a" => 1 }])
    changed = ask("wait=2x,cpu=0.5").profile(before)
    assert_in_delta 0.02, changed.mean_wait
    assert_in_delta 0.001, changed.mean_cpu
    assert_equal before.corrections, changed.corrections
    assert_equal before.entries.first.waits, changed.entries.first.waits
    assert_same before, ask("workers=4").profile(before)
  end

  def test_what_is_no_question_is_named_in_one_line
    ["", ",", "workers", "workers=", "workers=x", "workers=1.5", "workers=auto", "threads=0", "threads=autos",
     "cores=0", "wait=-1", "wait=0x", "speed=2", "engine=none", "rate=0", "rate=1,connections=2", "connections=0",
     "cpu=nan", "workers=1025", "threads=10001", "cores=1025", "connections=100001", "wait=1001x"].each do |text|
      error = assert_raises(Cuttle::UsageError, text) { ask(text) }
      assert_equal 1, error.message.lines.length
    end
  end
end
