# frozen_string_literal: true

require "test_helper"
require "tempfile"
require "tmpdir"

# What a lab does before its first run.
class TestSession < Minitest::Test
  Plan = Struct.new(:present, :loads, :rounds, :seed, :cut, :missing)
  Configuration = Struct.new(:control_of)
  Cores = Struct.new(:server, :load)

  # A Ctrl-C at the terminal reaches the programs that prepare an app, too.
  def test_an_interrupt_while_an_app_is_prepared_is_no_failure_of_it
    assert_raises(Interrupt) { run_lab(interrupted: true) }
  end

  def test_a_failure_while_an_app_is_prepared_is_one
    assert_match(/no gems/, assert_raises(Cuttle::Lab::Failure) { run_lab(interrupted: false) }.message)
  end

  # While a server boots, nothing else shows that the signal came. (In a file: a trap can't wait for a lock.)
  def test_the_first_signal_is_answered_at_once
    Tempfile.create("out") do |out|
      interruption = Cuttle::Lab::Runner::Interruption.new(out)
      interruption.during do
        Process.kill(:TERM, Process.pid)
        Eventually.eventually("the signal") { interruption.asked? }
      end
      out.rewind
      assert_equal "#{Cuttle::Lab::Runner::Interruption::SAID}\n", out.read
    end
  end

  def test_a_server_that_boots_is_not_waited_for_after_an_interrupt
    given = []
    assert_raises(Interrupt) { run_lab(interrupted: true) { |give_up| given << give_up.call } }
    assert_equal [true], given
  end

  def test_it_says_what_it_is_about_to_do
    out = StringIO.new
    session = Cuttle::Lab::Runner::Session.new(Cuttle::Lab::Options.new(rounds: 1), out: out)
    { 1 => "1 configuration under 1 load, in 1 round; seed 7",
      2 => "2 configurations under 2 loads, in 2 rounds; seed 7" }.each do |count, sentence|
      plan = Plan.new([Configuration.new] * count, [nil] * count, count, 7, [], {})
      { "@plan": plan, "@cores": Cores.new([0], [1]), "@directory": "here" }.each do |name, value|
        session.instance_variable_set(name, value)
      end
      session.send(:introduce)
      assert_includes out.string, "here: #{sentence}\n"
    end
  end

  private

  def run_lab(interrupted:)
    Dir.mktmpdir do |directory|
      File.write("#{directory}/config.ru", "")
      options = Cuttle::Lab::Options.new(app: directory, rounds: 1, directory: "#{directory}/lab-results")
      session = Cuttle::Lab::Runner::Session.new(options, out: StringIO.new)
      lock = ->(**, &block) { block.call }
      prepare = lambda do |*, give_up:|
        session.instance_variable_get(:@interruption).ask if interrupted
        yield give_up if block_given?
        raise Cuttle::Lab::Failure, "no gems"
      end
      Cuttle::Lab::Runner::Lock.stub(:hold, lock) { Cuttle::Lab::Runner::Testbed.stub(:open, prepare) { session.run } }
    end
  end
end
