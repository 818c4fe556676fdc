# frozen_string_literal: true

require "test_helper"
require_relative "oracle/sides"

# Compares the cores, with dialogues from the grammar of HTTP and apps that follow instructions, right and wrong: the
# same env, the same octets back, the same end. A failure is reduced to the smallest dialogue that still shows it.
# CUTTLE_CASES and CUTTLE_SEED are those of rake oracle.
class TestOracle < Minitest::Test
  CASES = Integer(ENV.fetch("CUTTLE_CASES", 150))
  SHRINKING = 60 # seconds
  SEED = Integer(ENV.fetch("CUTTLE_SEED", 1))

  def setup
    @errors, $stderr = $stderr, File.open(File::NULL, "w") # apps fail on purpose
  end

  def teardown
    @sides&.stop
    $stderr.close
    $stderr = @errors
  end

  Serving::ENGINES.each_with_index do |engine, number|
    define_method(:"test_both_cores_do_the_same_#{engine}") do
      @sides = Sides.new(engine)
      found = check(SEED + number, CASES)
      refute found.failed, -> { "seed #{SEED}, dialogue #{found.num_runs}, shrunk:\n#{found.error_message}" }
      @errors.write(*@sides.unsteady) if ENV["CUTTLE_CASES"]
    end
  end

  # The recognizer accepts inputs that no server should accept.
  def test_a_difference_is_found_and_shrunk
    @sides = Sides.new("single", parser: "recognizer")
    found = check(1, 500)
    assert found.failed
    assert_operator found.counterexample.items.grep(String).sum(&:bytesize), :<, 50, found.error_message
  end

  private

  def check(seed, cases)
    Pbt.check(num_runs: cases, seed: seed) do
      Pbt.property(Dialogue::Arbitrary.new) { |dialogue| try(dialogue) }
    end
  end

  # After a while, no smaller dialogues are tried: a head at its limits has very many.
  def try(dialogue)
    @sides.check(dialogue) unless @found && Cuttle.now - @found > SHRINKING
  rescue Sides::Difference
    @found ||= Cuttle.now
    raise
  end
end
