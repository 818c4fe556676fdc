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
    study = Cuttle::Studies.find("s4-scrawls")
    plan = experiment(study).plan
    twice, copy = study.control
    assert_equal 1, plan.configurations.count { |each| each.copy == "control" }
    assert_equal twice, copy.with(copy: nil)
    assert_equal study.conditions.length + 1, plan.pairs.sum { |_, loads| loads.length }
  end

  # A p99 needs a thousand responses, at any scale; so does the copy of its condition. Conditions without a claim have
  # the declared number.
  def test_a_run_has_as_many_requests_as_claimed_percentiles_need
    study = Cuttle::Studies.find("s0-ab")
    requests = [0.05, 1].map do |factor|
      scale = Cuttle::Studies::Scale.new(factor)
      study.conditions.to_h { |condition| [condition, study.load(condition, scale)["requests"]] }
    end
    assert_equal requests.first, requests.last
    tail = %w[s0.9 s0.10].flat_map { |id| study.entries_of(id) }.flat_map(&:conditions)
    assert_equal [1000], requests.first.values_at(*tail).uniq
    assert_equal [300, 500], requests.first.except(*tail).values.uniq.sort
    one, copy = study.control
    assert_equal(*[one, copy].map { |condition| study.load(condition, Cuttle::Studies::Scale.new(1)) })
  end

  def test_results_with_fewer_requests_are_still_found
    study = Cuttle::Studies.find("s0-ab")
    older = study.with(claims: [])
    results = StudiedLab.new(older) { [10, { "p50" => 3.0 }] }.results
    findings = Cuttle::Studies::Findings.new(study, Cuttle::Studies::Scale.new(1), results)
    assert(study.conditions.all? { |condition| findings.planned?(condition) })
  end

  def test_what_a_library_that_is_not_here_would_do_is_left_out
    study = Cuttle::Studies.find("q14-pool")
    entries = study.entries.first(2).zip(["/none.so", __FILE__]).map do |entry, library|
      preloaded = entry.conditions.map { |condition| condition.with(environment: { "LD_PRELOAD" => library }) }
      Cuttle::Studies::Study::Entry.new(entry.row, preloaded)
    end
    plan = experiment(study.with(entries: entries, claims: [])).plan
    assert_equal [__FILE__], plan.configurations.map { |each| each.environment["LD_PRELOAD"] }.uniq
  end

  # Rounds that scatter by 1% give every ratio within 5%, those that scatter by half don't.
  def test_further_rounds_have_what_is_not_precise_enough
    assert_empty wanted(5) { |block| 1 + (0.01 * (block % 3)) }
    every_run = StudiedLab.new(pool) { [1, {}] }.results.runs.map { |run| [run.configuration, run.load] }.uniq
    some = wanted(5) { |block| 1 + (0.5 * (block % 3)) }
    refute_empty some
    assert_empty some - every_run
    assert_includes some.map(&:first), "c3", "the control, which shows the noise of these rounds"
  end

  # The rule is fixed beforehand: a study's own number of rounds is made in any case.
  def test_a_study_has_its_own_rounds_in_full
    assert_nil wanted(4) { 1.0 }
  end

  # If the study is resumed, its rounds are planned again, and later ones are there.
  def test_only_the_rounds_before_decide_what_a_round_has
    wild = ->(block) { block < 5 ? 1 + (0.01 * (block % 3)) : 10.0 * block }
    assert_empty wanted(5, &wild)
    refute_empty wanted(8, &wild)
  end

  def test_without_a_precision_each_round_has_everything
    assert_nil wanted(7, precision: nil) { |block| 1 + (0.5 * (block % 3)) }
  end

  def test_a_study_of_full_length_has_no_scale
    plans = %w[s0-quantum s0-ab].map do |name|
      study = Cuttle::Studies.find(name)
      experiment(study, scale: 0.1).plan.loads.map(&:path).grep(/cpu_ms/).first
    end
    assert_match(/cpu_ms=100/, plans.first)
    assert_match(/cpu_ms=5\.0/, plans.last)
  end

  # Of s0.8 Puma and Unicorn decide, so nothing of Cuttle is measured for it.
  def test_what_decides_the_claims_is_measured_alone
    study = Cuttle::Studies.find("s0-ab")
    some = study.claimed(%w[s0.8])
    plan = experiment(some).plan
    assert_equal [["puma -t 16", nil], ["unicorn -w 4", "control"], ["unicorn -w 4", nil]],
                 plan.configurations.map { |each| [each.name.sub(" copy control", ""), each.copy] }.sort_by(&:to_s)
    header = experiment(some).options.notes
    assert_equal({ "study" => { "name" => "s0-ab", "scale" => 1, "claims" => %w[s0.8] } }, header)
  end

  private

  def pool
    Cuttle::Studies.find("q14-pool")
  end

  # The pairs that round +number+ of a study has whose rates depend on the round.
  def wanted(number, precision: 0.05, &rate)
    lab = StudiedLab.new(pool, blocks: 10, precision: precision) { |_, _, block| [100 * rate.call(block), {}] }
    Dir.mktmpdir { |directory| Cuttle::Studies::Experiment.wanted(pool).call(lab.write(directory), number) }
  end

  def experiment(study, testers: Absent.new(nil), scale: 1)
    Cuttle::Studies::Experiment.new(study, scale: Cuttle::Studies::Scale.new(scale), directory: "none", seed: 1,
                                           command: [], testers: testers)
  end

  def testers_of(testers)
    study = Cuttle::Studies.find("q17-testers")
    experiment(study, testers: testers).plan.loads.map(&:tester).uniq.sort_by(&:to_s)
  end
end
