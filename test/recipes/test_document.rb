# frozen_string_literal: true

require "test_helper"

# The table of docs/contributing.md: each recipe has its section, its test and files that exist.
class TestRecipeDocument < Minitest::Test
  ROOT = Serving::ROOT
  DOCUMENT = File.read("#{ROOT}/docs/contributing.md")
  ROWS = DOCUMENT.scan(/^\| \[([^\]]+)\]\(#([^)]+)\) \| (.*) \| (.*)\|$/).freeze

  # Recipes by the most files that they may touch.
  MOST = { "an engine" => 3, "a serve option" => 2, "a poller back end" => 2, "a parser" => 3,
           "a server for the lab" => 2, "a section or chart of the lab's page" => 1, "a chart of each study" => 1,
           "a study" => 1 }.freeze

  def test_every_recipe_has_a_section
    sections = DOCUMENT.scan(/^## (.+)$/).flatten.map { |title| title.downcase.delete("'").tr(" ", "-") }
    assert_equal(sections, ROWS.map { |_, anchor| anchor })
  end

  def test_every_recipe_touches_few_files
    ROWS.each { |title, _, files| assert_operator files.split(", ").length, :<=, MOST.fetch(title, 3), title }
    assert_empty MOST.keys - ROWS.map(&:first)
  end

  def test_every_file_is_there
    ROWS.each do |title, _, files, test|
      (files + test).scan(/`([^`]+)`/).flatten.each do |path|
        refute_empty Dir["#{ROOT}/#{path.gsub("NAME", "*")}"], "#{title}: #{path}"
      end
    end
  end

  def test_contributing_links_to_the_recipes
    assert_includes File.read("#{ROOT}/CONTRIBUTING.md"), "(docs/contributing.md)"
  end

  # A link to a file, from the documents of a contributor.
  def test_every_link_leads_somewhere
    %w[CONTRIBUTING.md CODE_OF_CONDUCT.md SECURITY.md docs/contributing.md].each do |document|
      File.read("#{ROOT}/#{document}").scan(/\]\((?!http|#)([^)#]+)/).flatten.each do |path|
        assert_path_exists File.expand_path(path, File.dirname("#{ROOT}/#{document}")), document
      end
    end
  end
end
