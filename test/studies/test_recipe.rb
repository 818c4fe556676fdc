# frozen_string_literal: true

require "test_helper"
require_relative "support/studies_case"

# The recipe of docs/study.md for a further study, followed to the letter: one file.
class TestStudyRecipe < Minitest::Test
  include StudiesCase

  RECIPE = File.read(File.expand_path("../../docs/study.md", __dir__))[/^One file, .*?^```ruby\n(.*?)^```/m, 1]

  def setup
    super
    FileUtils.mkdir_p("#{@root}/q99-threads")
    File.write("#{@root}/q99-threads/study.rb", RECIPE)
  end

  def test_it_is_measured_judged_and_archived
    assert_equal ["Threads that wait", %w[q99]], study("q99-threads").then { |each| [each.title, each.ids] }
    findings, = keep("q99-threads").select { |each| each.study.name == "q99-threads" }
    assert_equal [:confirmed], findings.verdicts.map(&:verdict)
    assert_path_exists "#{@root}/q99-threads/results.jsonl"
  end
end
