# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "support/studied_lab"

# What a study's lab is to measure.
class TestStudyExperiment < Minitest::Test
  Absent = Struct.new(:unavailable) do
    def find(_name)
      self
    end
  end

  def test_each_cell_is_measured_by_its_tester
    assert_equal [nil, "ab", "siege", "wrk"], testers_of(Absent.new(nil))
  end

  def test_what_a_tester_that_is_not_here_would_do_is_left_out
    assert_equal [nil], testers_of(Absent.new("it is not installed: apt-get install it"))
  end

  def test_the_plan_has_the_control
    study = Cuttle::Studies.all.find { |each| each.name == "s4-scrawls" }
    plan = experiment(study).plan
    twice, copy = study.control
    assert_equal 1, plan.configurations.count { |each| each.copy == "control" }
    assert_equal twice, copy.with(copy: nil)
    assert_equal study.conditions.length + 1, plan.pairs.sum { |_, loads| loads.length }
  end

  # A p99 needs a thousand responses, at any scale; so does the copy of its condition. Conditions without a claim have
  # the declared number.
  def test_a_run_has_as_many_requests_as_claimed_percentiles_need
    study = Cuttle::Studies.all.find { |each| each.name == "s0-ab" }
    requests = [0.05, 1].map do |factor|
      scale = Cuttle::Studies::Scale.new(factor)
      study.conditions.to_h { |condition| [condition, study.load(condition, scale)["requests"]] }
    end
    assert_equal requests.first, requests.last
    tail = %w[s0.9 s0.10].flat_map { |id| study.entries_of(id) }.flat_map(&:conditions)
    assert_equal [1000], requests.first.values_at(*tail).uniq
    assert_equal [500], requests.first.except(*tail).values.uniq
    one, copy = study.control
    assert_equal(*[one, copy].map { |condition| study.load(condition, Cuttle::Studies::Scale.new(1)) })
  end

  def test_results_with_fewer_requests_are_still_found
    study = Cuttle::Studies.all.find { |each| each.name == "s0-ab" }
    older = study.with(claims: [])
    results = StudiedLab.new(older) { [10, { "p50" => 3.0 }] }.results
    findings = Cuttle::Studies::Findings.new(study, Cuttle::Studies::Scale.new(1), results)
    assert(study.conditions.all? { |condition| findings.planned?(condition) })
  end

  def test_what_a_library_that_is_not_here_would_do_is_left_out
    study = Cuttle::Studies.all.find { |each| each.name == "q14-pool" }
    entries = study.entries.first(2).zip(["/none.so", __FILE__]).map do |entry, library|
      preloaded = entry.conditions.map { |condition| condition.with(environment: { "LD_PRELOAD" => library }) }
      Cuttle::Studies::Study::Entry.new(entry.row, preloaded)
    end
    plan = experiment(study.with(entries: entries, claims: [])).plan
    assert_equal [__FILE__], plan.configurations.map { |each| each.environment["LD_PRELOAD"] }.uniq
  end

  # Rounds that scatter by 1% give every ratio within 5%, those that scatter by half don't.
  def test_rounds_are_made_until_the_ratios_are_precise_enough
    assert_equal [true, false], [0.01, 0.5].map { |scatter| enough?(scatter, { "precision" => 0.05 }) }
    refute enough?(0.01, {})
  end

  # The rule is fixed beforehand: a study's own number of rounds is made in any case.
  def test_a_study_has_its_own_rounds_at_least
    refute enough?(0.0001, { "precision" => 0.05 }, blocks: 4)
  end

  private

  def enough?(scatter, note, blocks: 5)
    study = Cuttle::Studies.all.find { |each| each.name == "q14-pool" }
    lab = StudiedLab.new(study, blocks: blocks) do |_, load, block|
      [100 * (1 + (scatter * ((block + load["connections"]) % 3))), {}]
    end
    Dir.mktmpdir do |directory|
      path = "#{lab.write(directory)}/results.jsonl"
      header, *lines = File.readlines(path)
      header = JSON.parse(header).tap { |hash| hash["study"].merge!(note) }
      File.write(path, [JSON.generate(header), "\n", *lines].join)
      Cuttle::Studies::Experiment.enough.call(directory)
    end
  end

  def experiment(study, testers: Absent.new(nil))
    Cuttle::Studies::Experiment.new(study, scale: Cuttle::Studies::Scale.new(1), directory: "none", seed: 1,
                                           command: [], testers: testers)
  end

  def testers_of(testers)
    study = Cuttle::Studies.all.find { |each| each.name == "q17-testers" }
    experiment(study, testers: testers).plan.loads.map(&:tester).uniq.sort_by(&:to_s)
  end
end
