# frozen_string_literal: true

require "test_helper"
require_relative "support/recipe_case"

# The recipe for an engine, followed by that alone.
class TestEngineRecipe < Minitest::Test
  include RecipeCase

  CONFIGURATIONS = <<~RUBY
    options = Cuttle::Lab::Options.new(workers: [0, 2], seed: 1)
    configurations = Cuttle::Lab::Plan.build(options, peers: Cuttle::Lab::Servers::Peers).configurations
    puts configurations.map(&:name)
  RUBY

  def setup
    @touched = follow("An engine")
  end

  def test_it_touches_its_file_its_row_and_readme
    assert_equal files("An engine").map { |path| path.sub("NAME", "toy") }, [*@touched, "README.md"]
    assert_match(/^\| `toy` \| evented I\/O, one thread: an example \| \|$/, readme)
  end

  def test_it_serves
    assert_match(/^  toy +evented I\/O, one thread: an example$/, ruby("exe/cuttle", "serve", "--help"))
    serve("--engine", "toy") do |process|
      assert_match(/^  engine +toy$/, process.out)
      assert_serves process
    end
  end

  def test_the_lab_has_it
    assert_equal ["toy", "toy -w 2"], ruby("-rcuttle", "-e", CONFIGURATIONS).lines(chomp: true).grep(/toy/)
  end

  # Suites over each back end alone, over one clustered, both by TLS, and over the other core, one test of each.
  def test_the_contract_suite_has_it
    env = { "CUTTLE_ENGINE" => "toy" }
    out = ruby("test/contracts/test_engines.rb", "-v", "-n", "/TestEngine\\(toy.*#test_serves$/", env: env)
    backends = Cuttle::Poller.backends
    ways = [*backends.map { |name| "alone, native, #{name}" }, "clustered, native, #{backends.first}",
            *Cuttle::Cores.fetch("pure")::Poller.backends.map { |name| "alone, pure, #{name}" }]
    ways += %w[alone clustered].map { |way| "#{way}, native, #{backends.first}, TLS" }
    passed = out.scan(/^TestEngine\(toy, (.*?)\)#test_serves = .* \.$/).flatten
    assert_equal ways.sort, passed.sort
  end

  # The tests of the settings and of the rooms pass with one more engine.
  def test_the_rules_for_the_tree_hold
    tests = %w[settings/test_settings settings/test_table architecture/test_imports]
    FileUtils.cp_r(%w[bin sig].map { |path| "#{ROOT}/#{path}" }, @directory)
    readme
    ruby(*tests.map { |test| "-r./test/#{test}" }, "-e", "")
  end
end
