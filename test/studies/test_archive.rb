# frozen_string_literal: true

require "test_helper"
require_relative "support/studies_case"

# What is kept of a study's results says the same as they did, and is small.
class TestStudyArchive < Minitest::Test
  include StudiesCase

  def test_the_same_is_found_in_it
    %w[s0-ab q1-threads].each do |name|
      full = lab(name, scale: 0.3) { |*run| in_full(*run) }.write("#{@directory}/full/#{name}")
      kept = Studies::Archive.take(full, @root)
      one, other = [full, File.dirname(kept)].map { |directory| Studies::Archive.findings(directory, @root) }
      assert_same_findings one, other
      assert_operator File.size(kept) * 4, :<, File.size("#{full}/results.jsonl"), name
    end
  end

  # 300 responses have no p99, nor have three times as many; four times as many have one.
  def test_percentiles_of_several_runs_together_stay_what_they_are
    name = "q1-threads"
    full = lab(name, blocks: 4) { |*run| in_full(*run, count: 300) }.write("#{@directory}/full")
    one, other = [full, File.dirname(Studies::Archive.take(full, @root))].map do |directory|
      Studies::Archive.findings(directory, @root)
    end
    one.study.conditions.each do |condition|
      assert_equal one.estimate(condition, "p99"), other.estimate(condition, "p99")
      refute_nil other.estimate(condition, "p99").low
    end
  end

  def test_histograms_are_kept_only_where_they_are_needed
    full = lab("s0-sweeps") { |*run| in_full(*run) }.write("#{@directory}/full")
    findings = Studies::Archive.findings(File.dirname(Studies::Archive.take(full, @root)), @root)
    assert findings.results.runs.all? { |run| run.histogram.nil? }, "of rates and medians none is needed"
    assert(lines("s0-sweeps").drop(1).none? { |line| line.key?("windows") || line.key?("proof") || line.key?("marks") })
  end

  def test_what_is_not_declared_any_more_is_not_kept
    full = lab("q1-threads").write("#{@directory}/full")
    path = "#{@root}/q1-threads/study.rb"
    File.write(path, File.read(path).sub("[1, 10, 20, 40]", "[1, 10, 40]"))
    results = Studies::Archive.findings(File.dirname(Studies::Archive.take(full, @root)), @root).results
    loads = results.runs.map { |run| results.load(run.load).connections }
    assert_equal [1, 8, 10, 40], loads.uniq.sort
  end

  def test_nothing_of_this_machine_is_kept
    here = File.dirname(Studies::ROOT)
    failure = { "type" => "failure", "configuration" => "c1", "load" => "l1", "block" => 0,
                "reason" => "#{here}/lib/x.rb:1: no" }
    warnings = [{ "name" => "steal", "text" => "3% in #{here}" }]
    lab = lab("s0-ab") { |*run| served(*run).push({ "warnings" => warnings }) }
    full = lab.write("#{@directory}/full", more: [failure])
    text = File.read(Studies::Archive.take(full, @root))
    refute_includes text, here
    assert_includes text, "lib/x.rb:1: no"
    assert_match(/"text":"3% in \. \(the first of (\d+) such runs of \1\)"/, text)
  end

  def test_runs_that_are_not_valid_keep_their_reasons
    directory = lab("q1-threads",
                    run: { "valid" => false, "reasons" => ["wrong answers: status_5xx 3"],
                           "errors" => { "status_5xx" => 3 } })
                .write("#{@directory}/full")
    runs = Studies::Archive.findings(File.dirname(Studies::Archive.take(directory, @root)), @root).results.runs
    assert_equal [["wrong answers: status_5xx 3"], 3], [runs.first.reasons, runs.first.failures]
  end

  # Those that were steady say nothing.
  def test_runs_that_were_not_steady_say_so
    lab = lab("q1-threads") { |*run| served(*run).push({ "steady" => run.last.positive? }) }
    full = lab.write("#{@directory}/full")
    findings = Studies::Archive.findings(File.dirname(Studies::Archive.take(full, @root)), @root)
    assert_equal [false, nil, nil], findings.results.runs.first(3).map(&:steady)
    assert_match(/^- (\d+) runs of \d+ did not become steady in the warm-up: cuttle hybrid, 1 at once;/,
                 Studies::Report::Readme.render(findings))
  end

  def test_results_by_another_ruby_are_kept_beside_the_first
    first = Studies::Archive.take(measured_by("3.1"), @root)
    again = Studies::Archive.take(measured_by("4.0"), @root)
    assert_equal %W[#{@root}/s0-ab/results.jsonl #{@root}/s0-ab/ruby-4.0/results.jsonl], [first, again]
    assert_equal first, Studies::Archive.take(measured_by("3.1"), @root), "the first in its place"
    assert_equal [1, ["4.0"]], [Studies::Archive.all(@root).length,
                                Studies::Archive.again(@root).map { |each| Studies::Archive.series(each.results) }]
    said = Studies::Documents.of(Studies::Archive.all(@root), @root)
    assert_includes said["#{@root}/s0-ab/README.md"], "## On Ruby 4.0\n"
    assert_match(/^\| \[s0\.8\].* \| (confirmed|not decided|refuted) \(Ruby 4\.0\) \| /, said.values.last)
  end

  # A column of verdicts beside those of the whole study: of the claims alone, on the original servers.
  def test_claims_by_another_ruby_are_kept_beside_the_whole_study
    Studies::Archive.take(measured_by("3.1"), @root)
    claimed = measured_by("4.0", study("s0-ab").claimed(%w[s0.8]))
    assert_equal "#{@root}/s0-ab/ruby-4.0/results.jsonl", Studies::Archive.take(claimed, @root)
    findings, = Studies::Archive.again(@root)
    assert_equal [%w[s0.8], 2], [findings.study.deciding, findings.study.conditions.length]
    said = Studies::Documents.of(Studies::Archive.all(@root), @root)
    assert_match(/^\| \[s0\.8\].* \| (confirmed|not decided|refuted) \(Ruby 4\.0\) \| /, said.values.last)
    assert_match(/^\| \[s0\.10\].* \| not testable here \(Ruby 4\.0\) \| /, said.values.last)
    readme = said["#{@root}/s0-ab/README.md"][/^## On Ruby 4\.0\n.*/m]
    assert_match(/^\| s0\.8: .* \| puma and unicorn \| /, readme)
    assert_includes readme, "    cuttle study s0-ab --claims --rounds 3 --seed 1"
    assert_includes said.values.last, "in 1 study; again Ruby 4.0 in 1 study."
  end

  def test_claims_alone_are_no_study
    claimed = study("s0-ab").claimed(%w[s0.8])
    refused = lambda do |series|
      assert_raises(Studies::Failure) { Studies::Archive.take(measured_by(series, claimed), @root) }
    end
    assert_match(/only the claims of s0-ab: they are kept beside the whole study/, refused["4.0"].message)
    Studies::Archive.take(measured_by("3.1"), @root)
    assert_match(/only the claims of s0-ab/, refused["3.1"].message)
  end

  # The ranges have to be declared before they are measured, so a kept study may get more.
  def test_the_readme_counts_measurements_that_were_declared_later
    Studies::Archive.take(lab("q1-threads").write("#{@directory}/full"), @root)
    # 80 connections are new; 8 were measured so far with other servers.
    [80, 8].each do |connections|
      path = "#{@root}/q1-threads/study.rb"
      File.write(path, QUESTIONS.sub("[1, 10, 20, 40]", "[1, 10, 20, 40, #{connections}]"))
      findings = Studies::Archive.all(@root).find { |each| each.study.name == "q1-threads" }
      assert_equal 2, Studies::Archive.lacking(findings).length
      assert_includes Studies::Report::Readme.render(findings),
                      "- Declared later, and not measured yet: 2 measurements."
    end
  end

  def test_what_the_load_took_of_its_core_is_kept
    full = lab("s0-ab", run: { "load_cpu" => 0.0412 }).write("#{@directory}/full")
    findings = Studies::Archive.findings(File.dirname(Studies::Archive.take(full, @root)), @root)
    assert_equal [0.0412], findings.results.runs.map(&:load_cpu).uniq
  end

  def test_a_part_of_a_study_is_refused
    part = StudiedLab.new(study("s0-ab").only(%w[s0.10])) { |*run| served(*run) }.write("#{@directory}/part")
    error = assert_raises(Studies::Failure) { Studies::Archive.take(part, @root) }
    assert_match(/part: \d+ of the \d+ measurements of s0-ab: only a study as a whole is kept/, error.message)
    refute File.exist?("#{@root}/s0-ab/results.jsonl")
  end

  def test_one_that_did_not_come_to_its_end_is_refused
    torn = lab("s0-ab").write("#{@directory}/torn", ended: false)
    assert_match(/was not completed/,
                 assert_raises(Studies::Failure) { Studies::Archive.take(torn, @root) }.message)
  end

  def test_of_several_results_the_newest_are_taken
    directory = "#{@directory}/study-results"
    lab("s0-ab").write("#{directory}/s0-ab/1")
    lab("s0-ab", blocks: 2).write("#{directory}/s0-ab/2")
    newer = File.read("#{directory}/s0-ab/2/results.jsonl").sub("2026-11-21T10", "2026-11-21T11")
    File.write("#{directory}/s0-ab/2/results.jsonl", newer)
    assert_equal [2], Studies::Archive.newest(directory, @root).map { |each| each.results.rounds }
  end

  private

  # A directory of results of s0-ab, or of a part of it.
  def measured_by(series, part = study("s0-ab"))
    directory = StudiedLab.new(part, &method(:served)).write("#{@directory}/by/#{series}")
    path = "#{directory}/results.jsonl"
    File.write(path, File.read(path).sub('"environment":{', "\"environment\":{\"ruby\":\"ruby #{series}.5\","))
    directory
  end

  def lines(name)
    File.readlines("#{@root}/#{name}/results.jsonl").map { |line| JSON.parse(line) }
  end

  # To five digits, and in words.
  def assert_same_findings(one, other)
    assert_equal words(one), words(other)
    one.reproductions.zip(other.reproductions) do |a, b|
      figures(a.ours).zip(figures(b.ours)) { |x, y| x ? assert_in_epsilon(x, y, 2e-4) : assert_nil(y) }
    end
    said = one.reproductions.any? { |each| each.ours&.low } || one.verdicts.any? { |each| each.verdict != :undecided }
    assert said, "nothing was found at all"
  end

  def words(findings)
    findings.verdicts.map { |verdict| [verdict.claim.id, verdict.by, verdict.verdict, verdict.evidence.map(&:verdict)] }
  end

  def figures(estimate)
    estimate ? [estimate.value, estimate.low, estimate.high] : [nil] * 3
  end
end
