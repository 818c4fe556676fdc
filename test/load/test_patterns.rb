# frozen_string_literal: true

require "test_helper"

# What is looked for in bodies: the native search must find what Ruby's own finds.
class TestLoadPatterns < Minitest::Test
  Load = Cuttle::Load
  Pattern = Cuttle::Load::Pattern

  def search(pattern, text)
    Load::Parts.search(pattern.to_core, text.b)
  end

  # As Parts.search says it, by Ruby's regular expressions.
  def expected(source, text, options = 0)
    match = Regexp.new(source.b, options, **{}).match(text.b) or return
    match.size > 1 && match[1] ? [match.begin(1), match.end(1)] : true
  end

  def assert_same(source, text, flags = "")
    options = (flags.include?("i") ? Regexp::IGNORECASE : 0) | (flags.include?("m") ? Regexp::MULTILINE : 0)
    wanted = expected(source, text, options)
    found = search(Pattern.read("/#{source}/#{flags}"), text)

    assert wanted == found, "/#{source}/ in #{text.inspect}: #{found.inspect}, and Ruby's finds #{wanted.inspect}"
  end

  def test_texts
    assert search(Pattern.read("b/c"), "a/b/c/d")
    assert_nil search(Pattern.read("b/d"), "a/b/c/d")
    assert_nil search(Pattern.read("a"), "")
    assert search(Pattern.read("é\0"), "caf\u00E9\0")
  end

  TEXTS = ["", "a", "b", "ab", "aab", "abc", "aaab\nb", "xaby", "foo bar\n", "\n\n", "a\nb",
           "name=\"token\" value=\"x1=\"",
           "caf\u00E9 9", "aXbXc", "((a))", "{1}", "ABC", "a-b_c", "0123456789abcdef"].freeze

  SOURCES = ["a", "b", "a|b", "ab|a", "a*", "a+b", "a*?b", "(a*)(?:b|c)", "(a+?)a*b", "^b", "b$", "\\Ab", "b\\z",
             "b\\Z", "^$", "\\bb", "\\Bb", "a.b", "[ab]+(c)", "[^ab]", "[a-c]{2}", "a{2,3}b", "a{2,}", "a{,2}b",
             "(a|ab)(?:c|bcd)?",
             "value=\"([^\"]*)\"", "\\d+", "(\\w+)\\s(?:\\w+)", "\\D", "\\W", "\\S", "\\h+", "x?", "(?:a|b)*c", "(X)b",
             "\\(\\(", "\\{1\\}", "a{", "[-a]", "[a-]", "[\\]\\d]", "\\x41", "\\n", "(a)?b", "(?:(a)|b)+", "",
             "[\\w-]+", "..", "(?:a(b)?)+", "é", "a{2}?", "a{2}?b", "a{2}??b", "a{1,2}?b", "a{,2}?b", "a{2}+b",
             "a{1,2}+b", "a{2,}+b", "(a{2}?)b"].freeze

  # Only of a group that is repeated and may be empty, the text may be another: Ruby keeps the empty one.
  def test_expressions_mean_what_they_mean_in_ruby
    SOURCES.product(TEXTS, ["", "i", "m"]) do |source, text, flags|
      next if source.empty?

      assert_same(source, text, flags)
    end
  end

  # Random expressions of few letters in random texts of them.
  def test_random_expressions
    random = Random.new(Integer(ENV.fetch("SEED", 7)))
    2000.times do
      source = expression(random, 3)
      assert_same(source, Array.new(random.rand(12)) { "ab\n".chars.sample(random: random) }.join)
    end
  end

  REPETITIONS = ["*", "+", "?", "*?", "+?", "{2}", "{2}?", "{1,2}", "{1,2}?", "{1,2}+"].freeze

  # No group within a repetition: Ruby keeps a group's text of an earlier turn in cases where others don't.
  def expression(random, depth)
    return ["a", "b", ".", "[ab]", "[^a]", "^", "$", "\\b"].sample(random: random) if depth.zero?

    inner = Array.new(random.rand(1..3)) { expression(random, depth - 1) }
    case random.rand(4)
    when 0 then inner.join
    when 1 then "(?:#{inner.join("|")})"
    when 2 then "(?:#{inner.first})"
    else "(?:#{inner.join}x?)#{REPETITIONS.sample(random: random)}"
    end
  end

  def test_the_prefix_is_what_every_match_begins_with
    { "abc" => "abc", "ab*" => "a", "(ab)c" => "abc", "a|b" => "", "^a" => "", "value=\"([^\"]*)" => "value=\"" }
      .each { |source, prefix| assert_equal prefix, Pattern.expression(source).prefix, source }
  end

  # An expression that makes a backtracking search take forever.
  def test_time_is_in_proportion
    assert_nil search(Pattern.read("/(?:a*b?)*c$/"), "a" * 20_000)
  end

  def test_what_is_not_supported_is_refused
    ["(?=a)", "(?<n>a)", "(a)\\1", "a*+", "\\p{Alpha}", "[[:alpha:]]", "[a&&b]", "\\G", "a{2000}", "(", "[b-a]", "*",
     "(a{1000}){1000}"].each do |source|
      error = assert_raises(Cuttle::UsageError, source) { Pattern.read("/#{source}/") }
      assert_includes error.message, "/#{source}/: "
    end
    ["/a/x", ""].each { |source| assert_raises(Cuttle::UsageError, source) { Pattern.read(source) } }
  end
end
