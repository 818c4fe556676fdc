# frozen_string_literal: true

require "test_helper"
require "stringio"
require_relative "support/studies_case"

require "cuttle/cli"
require "cuttle/cli/study"

# READMEs of studies and docs/studies.md: those that are committed are what the kept results give, and what they say.
class TestStudyDocuments < Minitest::Test
  include StudiesCase

  # The Findings of all that is kept, read once.
  def self.kept = @kept ||= Studies::Archive.all

  def test_those_that_are_committed_are_what_the_kept_results_give
    kept = self.class.kept
    skip "no results are kept" if kept.empty?

    stale = Studies::Documents.of(kept).reject { |path, text| File.file?(path) && File.read(path) == text }
    assert_empty stale.keys, "run: cuttle study report"
  end

  # A range is declared before it is measured, so a kept study may lack what was declared later. Its README says so.
  def test_what_is_kept_is_complete_but_for_what_was_declared_later
    (self.class.kept + Studies::Archive.again).each do |findings|
      refute_predicate findings.results, :interrupted?, findings.study.name
      count = Studies::Archive.lacking(findings).length
      assert_operator count, :<, findings.study.conditions.length, findings.study.name
      later = Studies::Report::Conditions.troubles(findings).grep(/\ADeclared later, and not measured yet: /)
      assert_equal count.zero? ? [] : [count], later.map { |text| text[/\d+/].to_i }, findings.study.name
    end
  end

  def test_a_readme_says_all_of_its_study
    readme = document("s0-ab/README.md", *keep("s0-ab", scale: 0.1))
    s0 = study("s0-ab")
    [s0.title, s0.source, s0.question, s0.design, *s0.flaws].each { |text| assert_includes readme, text }
    s0.claims.each { |claim| assert_includes readme, claim.text.sub("<", "&lt;") }
    evidence = /.*: [\d.]+ \([\d.]+ to [\d.]+\), expected above 1/
    assert_match(/^\| s0\.8: .* \| Cuttle \| \*\*(holds|fails|not decided)\*\* \| #{evidence} \|$/, readme)
    assert_match(/^\| s0\.10 \| cuttle like puma -w 4 -t 16 \| 10 at once \| [\d.]+ → [\d.]+ \([\d.]+\) \|/, readme)
    assert_includes readme, "    cuttle study s0-ab --scale 0.1 --rounds 3 --seed 1"
    assert_includes readme, "Waits, computing and numbers of requests are 0.1 times the original's"
  end

  # 320 rows beside each other.
  def test_a_table_of_many_rows_is_compact
    readme = document("s0-sweeps/README.md", *keep("s0-sweeps"))
    assert_operator readme.lines.length, :<, 80
    assert_includes readme, "| 1 at once | 2 at once | 5 at once | 10 at once | 20 at once |"
    assert_includes readme, "| cpu 50 ms, iowait 250 ms | cuttle like puma -t 16 |"
    refute_match(/Inf|NaN/, readme)
    assert_equal 15, readme.lines.grep(/^\| s0\.1[123] 2013-06-2[56] /).length
  end

  def test_questions_have_intervals_and_columns
    readme = document("q1-threads/README.md", *keep("q1-threads"))
    assert_match(
      /^\| q1 \| threads 8, connections 40 \| cuttle hybrid -t 8 \| 40 at once \| [\d.]+ \([\d.]+ to [\d.]+\) \|/,
      readme
    )
    refute_includes readme, "→"
  end

  def test_the_overview_has_every_claim_and_every_question
    overview = document("../docs/studies.md", *keep("s0-ab", "q1-threads"))
    published = study("s0-ab").claims.select { |claim| Studies::Published.claims.key?(claim.id) }
    published.each do |claim|
      assert_includes overview, "| [#{claim.id}](../studies/s0-ab/README.md) | #{claim.text.sub("<", "&lt;")} |"
    end
    assert_match(
      /Of #{published.length} published claims, tested on the original servers .*: \d confirmed, \d refuted in part/,
      overview
    )
    assert_match(/^\| more threads serve more \| \*\*refuted in part\*\* \| .*8 threads by 1: 8\.00/, overview)
    assert_includes overview, "### q1-threads: How many threads"
    assert_includes overview, "Without results yet: s0-sweeps."
    assert_operator overview.index("## The claims"), :<, overview.index("## The questions that were left open")
  end

  # Each sentence is based on a verdict; with another verdict it is left out.
  def test_the_overview_opens_with_what_to_believe
    File.write("#{@root}/beliefs.csv", "claim,verdict,sentence\nq1.1,refuted in part,More threads, more served.\n" \
                                       "q1.1,confirmed,Not said.\nq9.9,confirmed,Of nothing.\n")
    all = keep("q1-threads")
    overview = document("../docs/studies.md", *all)
    assert_match(%r{^1\. More threads, more served\. \(\[q1\.1\]\(../studies/q1-threads/README\.md\): 8 threads by 1: },
                 overview)
    refute_match(/Not said|Of nothing/, overview)
    page = Studies::Report::Page.render(all, beliefs: Studies::Beliefs.read(@root))
    assert_match(/<section id="beliefs".*<section id="threats".*<section id="q1-threads"/m, page)
    assert_includes page, "<p>More threads, more served.</p>"
  end

  def test_the_beliefs_there_are_name_claims_and_verdicts
    claims = Studies.all.flat_map { |each| each.claims.map(&:id) }
    sentences = Studies::Beliefs.read
    assert_operator sentences.length, :>=, Studies::Beliefs::MOST
    assert_empty sentences.map(&:claim) - claims
    assert_empty sentences.map(&:verdict) - Studies::Verdicts::WORDS.values
  end

  def test_threats_to_validity_follow_from_the_results
    overview = document("../docs/studies.md", *keep("s0-ab", "q1-threads", scale: 0.1))
    threats = overview[/^## Threats to validity\n\n(.*?)\n\n/m, 1]
    assert_includes threats, "- 2 studies of 2 ran with shorter or fewer requests (down to 0.1 times)"
    assert_includes threats, "- 3 rounds are few."
    assert_includes threats, "- An A/A control was measured in 2 of 2 studies"
    assert_operator overview.index("## Threats"), :<, overview.index("## The claims")
  end

  def test_a_machine_with_slow_system_calls_is_a_threat
    documents = [0.2e-6, 1.34e-6].map do |seconds|
      document("../docs/studies.md", *keep("s0-ab", environment: { "system_call" => seconds }))
    end
    refute_includes documents[0], "a system call took"
    assert_includes documents[1], "- In 1 study a system call took up to 1.3 us, several times as long as on most"
  end

  def test_a_claim_for_more_cores_names_its_command
    overview = document("../docs/studies.md", *keep("s0-ab"))
    assert_includes overview, "the servers had 2. On a machine of 5 cores or more: `cuttle study s0.10`"
  end

  def test_short_runs_and_shared_cores_are_named
    short = lab("s0-ab", run: { "rate" => 5000.0, "load_cpu" => 0.05 })
    troubles = Studies::Report::Conditions.troubles(short.findings).join("\n")
    assert_match(/^\d+ runs of \d+ took less than 0\.4 s, the shortest 0\.2 s/, troubles)
    refute_match(/shared/, troubles)
  end

  # No claim is about 10 connections.
  def test_what_the_load_took_of_a_shared_core_is_said_of_the_claims_too
    said = [0.07, 0.02].map do |most|
      value = ->(_, load, _) { [100.0, {}, { "load_cpu" => load["connections"] == 10 ? most : 0.012 }] }
      findings = lab("q1-threads", environment: { "load_cores" => [1] }, &value).findings
      Studies::Report::Conditions.troubles(findings).grep(/shared core 1/)
    end
    assert_equal [["The load shared core 1 with the servers, and took up to 7% of it, and 1.2% where claims are " \
                   "tested: rates there are too low by about as much."],
                  ["The load shared core 1 with the servers, and took up to 2% of it."]], said
  end

  # An excerpt has whole numbers where five digits are enough.
  def test_a_run_is_as_long_as_its_responses_take
    long = lab("s0-ab", run: { "rate" => 20_000, "responses" => 10_000 })
    assert_empty Studies::Report::Conditions.troubles(long.findings).grep(/took less than/)
    short = lab("s0-ab", run: { "rate" => 20_000, "responses" => 7_000 })
    assert_match(/took less than 0\.4 s, the shortest 0\.35 s/,
                 Studies::Report::Conditions.troubles(short.findings).join)
  end

  def test_rounds_of_a_part_are_counted_separately
    few, more = [5, 12].map { |blocks| lab("s0-ab", blocks: blocks, precision: 0.05).findings }
    assert_match(/; 5 rounds, seed 1\./, Studies::Report::Conditions.measured(few))
    assert_match(/; 5 rounds, and up to 7 more for ratios of claims, seed 1\./,
                 Studies::Report::Conditions.measured(more))
    assert_equal "cuttle study s0-ab --precision 0.05 --rounds 12 --seed 1",
                 Studies::Report::Conditions.command(more)
  end

  def test_what_comes_from_outside_stays_in_its_cell
    failure = { "type" => "failure", "configuration" => "c1", "load" => "l1", "block" => 0,
                "reason" => "a | b\n# <script>" }
    Studies::Archive.take(lab("q1-threads").write("#{@directory}/full", more: [failure]), @root)
    readme = document("q1-threads/README.md", *Studies::Archive.all(@root))
    assert_includes readme, "a \\| b # &lt;script>."
  end

  def test_keep_writes_results_readme_and_overview
    results = lab("s0-ab").write("#{@directory}/results")
    assert_equal 0, documents.keep([results])
    written = %W[#{@root}/s0-ab/results.jsonl #{@root}/s0-ab/README.md #{@directory}/docs/studies.md]
    assert_equal written, @out.string.lines.map(&:chomp)
    written.each { |path| assert File.file?(path), path }
  end

  def test_nothing_is_kept_where_one_is_refused
    good, bad = lab("s0-ab").write("#{@directory}/good"), lab("q1-threads").write("#{@directory}/bad", ended: false)
    assert_raises(Studies::Failure) { documents.keep([good, bad]) }
    refute File.exist?("#{@root}/s0-ab/results.jsonl")
  end

  def test_report_writes_the_page_and_all_that_is_stale
    keep("s0-ab")
    assert_equal 0, documents.report([])
    assert_equal %W[#{@root}/s0-ab/README.md #{@directory}/docs/studies.md #{@root}/report.html],
                 @out.string.lines.map(&:chomp)
    assert File.read("#{@root}/report.html").start_with?("<!DOCTYPE html>")
  end

  def test_a_report_of_results_that_are_not_kept_writes_no_documents
    lab("s0-ab").write("#{@directory}/study-results/s0-ab/1")
    assert_equal 0, documents.report([], directory: "#{@directory}/study-results", output: "#{@directory}/page.html")
    assert_equal ["#{@directory}/page.html\n"], @out.string.lines
    refute File.exist?("#{@root}/s0-ab/README.md")
  end

  def test_without_results_there_is_one_line
    assert_equal "no results are kept: cuttle study keep DIR",
                 assert_raises(Cuttle::Error) { documents.report([]) }.message
    assert_match(%r{no results in /none},
                 assert_raises(Cuttle::Error) { documents.report([], directory: "/none") }.message)
    assert_match(%r{no results in /none}, assert_raises(Cuttle::Error) { documents.keep(["/none"]) }.message)
    assert_raises(Cuttle::UsageError) { documents.keep([]) }
    assert_raises(Cuttle::UsageError) { documents.report(%w[s0]) }
  end

  def test_a_part_can_not_be_kept
    error = assert_raises(Cuttle::UsageError) do
      Cuttle::CLI::Study.new(out: StringIO.new, err: StringIO.new).run(%w[s0.10 --keep])
    end
    assert_equal "--keep: only whole studies can be kept: s0-ab, not a part of it", error.message
  end

  private

  def documents
    Cuttle::CLI::Study::Documents.new(out: @out = StringIO.new, root: @root)
  end

  # By its path below the studies' directory.
  def document(name, *all)
    Studies::Documents.of(all, @root).fetch(File.expand_path(name, @root))
  end
end
