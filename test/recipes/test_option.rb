# frozen_string_literal: true

require "test_helper"
require_relative "support/recipe_case"

# The recipe for an option of `cuttle serve`, followed by that alone.
class TestOptionRecipe < Minitest::Test
  include RecipeCase

  def setup
    @touched = follow("A serve option")
  end

  def test_it_touches_its_row_and_its_use
    assert_equal [files("A serve option").first, "lib/cuttle/launcher.rb"], @touched
    assert_match(/^\| `--motto TEXT` \| a line to print at the start \| `CUTTLE_MOTTO` \|$/, readme)
  end

  def test_the_command_line_has_it
    serve("--motto", "by flag", env: { "CUTTLE_MOTTO" => "by environment" }) do |process|
      assert_match(/^  by flag$/, process.out)
    end
  end

  def test_the_environment_has_it
    serve(env: { "CUTTLE_MOTTO" => "by environment" }) { |process| assert_match(/^  by environment$/, process.out) }
  end

  def test_help_has_it
    help = ruby("exe/cuttle", "serve", "--help")
    assert_match(/^ +--motto TEXT +a line to print at the start$/, help)
    assert_match(/^  --motto +CUTTLE_MOTTO$/, help)
  end

  def test_the_rules_for_the_table_hold
    readme
    ruby("test/settings/test_table.rb")
  end
end
