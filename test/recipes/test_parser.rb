# frozen_string_literal: true

require "test_helper"
require_relative "support/recipe_case"

# The recipe for a parser, followed by that alone.
class TestParserRecipe < Minitest::Test
  include RecipeCase

  def setup
    @touched = follow("A parser")
  end

  def test_it_touches_its_file_its_row_and_readme
    assert_equal files("A parser").map { |path| path.sub("NAME", "toy") }, [*@touched, "README.md"]
    assert_match(/^\| `toy` \| the parser in Ruby by another name: an example \|$/, readme)
  end

  def test_it_serves
    serve("--parser", "toy") do |process|
      assert_match(/^  parser +toy$/, process.out)
      assert_serves process
    end
  end

  def test_the_contract_suite_has_it
    out = ruby("test/contracts/test_parsers.rb", "-n", "/TestToyParser#test_(is_for|a_parser_is_good)/")
    assert_match(/^2 runs, .* 0 failures, 0 errors/, out)
  end
end
