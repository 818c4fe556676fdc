# frozen_string_literal: true

require "test_helper"
require "tmpdir"

# A lab that ends before it has begun.
class TestSession < Minitest::Test
  # A Ctrl-C at the terminal reaches the programs that prepare an app, too.
  def test_an_interrupt_while_an_app_is_prepared_is_no_failure_of_it
    assert_raises(Interrupt) { run_lab(interrupted: true) }
  end

  def test_a_failure_while_an_app_is_prepared_is_one
    assert_match(/no gems/, assert_raises(Cuttle::Lab::Failure) { run_lab(interrupted: false) }.message)
  end

  private

  def run_lab(interrupted:)
    Dir.mktmpdir do |directory|
      File.write("#{directory}/config.ru", "")
      options = Cuttle::Lab::Options.new(app: directory, rounds: 1, directory: "#{directory}/lab-results")
      session = Cuttle::Lab::Runner::Session.new(options, out: StringIO.new)
      lock = ->(**, &block) { block.call }
      prepare = lambda do |*|
        session.instance_variable_get(:@interruption).ask if interrupted
        raise Cuttle::Lab::Failure, "no gems"
      end
      Cuttle::Lab::Runner::Lock.stub(:hold, lock) { Cuttle::Lab::Runner::Testbed.stub(:open, prepare) { session.run } }
    end
  end
end
