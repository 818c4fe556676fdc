# frozen_string_literal: true

# Text that means nothing and is the same for the same seed: what the forum is filled with, and what the load posts.
class Babble
  SYLLABLES = %w[ba ce di fo gu ha le mi no pu ra se ti vo wu ya ze lo me ka].freeze

  def initialize(seed)
    @random = Random.new(seed)
    @words = Array.new(2000) { Array.new(@random.rand(1..4)) { SYLLABLES.sample(random: @random) }.join }
  end

  # "Some words", at most 120 characters.
  def title
    words(@random.rand(3..9)).capitalize
  end

  # Sentences in paragraphs, of +length+ characters (an Integer, or a Range to choose from).
  def text(length)
    length = @random.rand(length) if length.is_a?(Range)
    text = +""
    text << sentence << (@random.rand(6).zero? ? "\n\n" : " ") while text.length < length
    text[0, length].strip
  end

  def name
    words(1).capitalize
  end

  # One of several.
  def pick(things)
    things.sample(random: @random)
  end

  def number(range)
    @random.rand(range)
  end

  private

  def sentence
    "#{words(@random.rand(4..16)).capitalize}."
  end

  def words(count)
    Array.new(count) { pick(@words) }.join(" ")
  end
end
