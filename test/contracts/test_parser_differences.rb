# frozen_string_literal: true

require "test_helper"
require_relative "conversation"
require_relative "mutations"

# The parsers against each other, on inputs made at random. CUTTLE_SEED repeats a run, CUTTLE_ROUNDS makes it longer.
class TestParserDifferences < Minitest::Test
  Parsers = Cuttle::Http::Parsers

  ROUNDS = Integer(ENV.fetch("CUTTLE_ROUNDS", 12_000))
  SEED = Integer(ENV.fetch("CUTTLE_SEED", Random.new_seed % (2**32)))

  def test_native_and_pure_say_the_same_however_their_input_is_cut
    mutations = Mutations.new(SEED)
    endings = Array.new(ROUNDS) do
      octets = mutations.octets
      expected = Conversation.cut(Parsers::Native, octets).to_a
      same(expected, Parsers::Pure, octets, [])
      same(expected, Parsers::Native, octets, mutations.cuts(octets.bytesize))
      same(expected, Parsers::Pure, octets, mutations.cuts(octets.bytesize))
      expected.last
    end
    assert_empty [:more, 400, 417, 501, 505] - endings # else they say nothing
  end

  # A subset: what the recognizer accepts, the native parser accepts, with an equal Head.
  def test_the_recognizer_accepts_nothing_that_native_does_not
    mutations = Mutations.new(SEED)
    inputs = ParserRows.all.map(&:octets) + Array.new(ROUNDS) { mutations.octets }
    accepted = inputs.count do |octets|
      head = recognized(octets) or next
      assert_equal Parsers::Native.new.head(octets), head, "seed #{SEED}: #{octets.inspect}"
    end
    assert_operator accepted, :>, inputs.size / 50 # else they say nothing
  end

  private

  def recognized(octets)
    Parsers::Recognizer.new.head(octets)
  rescue Cuttle::Http::ParseError
    nil
  end

  def same(expected, parser, octets, cuts)
    actual = Conversation.cut(parser, octets, cuts).to_a
    return if actual == expected

    assert_equal expected, actual, "seed #{SEED}: #{parser} on #{octets.inspect}, cut at #{cuts}"
  end
end
