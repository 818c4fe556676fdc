# frozen_string_literal: true

require "test_helper"
require_relative "../support/synthetic_lab"

# Results as they are read back, whole and damaged.
class TestLabResults < Minitest::Test
  include TemporaryDirectory

  Results = Cuttle::Lab::Results
  Failure = Cuttle::Lab::Failure

  def setup
    @lab = SyntheticLab.new(["single", "hybrid -t 5", "single again"], blocks: 2, loads: 2,
                            controls: { "single again" => "single" }) { |_, _, block, _| 100.0 + block }
  end

  def test_header
    results = read

    assert_equal ["synthetic", %w[cuttle lab], 1, 2], [results.id, results.command, results.seed, results.rounds]
    hybrid = results.configurations[1]
    assert_equal ["hybrid -t 5", 1, nil], [hybrid.name, hybrid.slots, hybrid.control_of]
    assert_equal "c1", results.configuration("c3").control_of
    assert_equal [10, 20], results.loads.map(&:connections)
    refute_predicate results.loads.first, :open?
    assert_equal 2, results.environment["cores"]
  end

  def test_runs
    results = read
    run = results.runs(configuration: "c2", load: results.load("l2")).last

    assert_equal 12, results.runs.length
    assert_equal [["c2", "l2", 1], 101.0, true], [run.key, run.rate, run.valid?]
    assert results.run?("c2", "l2", 1)
    refute results.run?("c2", "l2", 2)
    assert_equal 4, results.runs(configuration: results.configurations.first).length
  end

  def test_frozen_throughout
    results = read

    assert_predicate results, :frozen?
    assert_raises(FrozenError) { results.runs.first.ms["p50"] = 1 }
    assert_raises(FrozenError) { results.configurations << 1 }
  end

  def test_histogram
    histogram = Cuttle::Load::Histogram.new
    [1000, 2_000_000].each { |value| histogram.record(value) }
    run = @lab.runs.first.merge("histogram" => Cuttle::Load::Histograms.to_h(histogram))
    read_back = read([run]).runs.first.histogram

    assert_equal Cuttle::Load::Histograms.to_h(histogram), Cuttle::Load::Histograms.to_h(read_back)
  end

  def test_other_records
    results = read([{ "type" => "missing", "configuration" => "c2", "reason" => "falcon is not installed" },
                    { "type" => "failure", "configuration" => "c1", "load" => "l1", "block" => 0, "reason" => "died" },
                    { "type" => "warning", "name" => "steal", "text" => "5% of the CPU", "advice" => "again" },
                    { "type" => "of a later version" }])

    assert_equal ["falcon is not installed"], results.missing.map(&:reason)
    assert_equal [["c1", 0]], results.failures.map { |each| [each.configuration, each.block] }
    assert_equal ["steal"], results.warnings.map(&:name)
    assert_empty results.damages
  end

  # Resumed with the server installed meanwhile.
  def test_what_ran_is_not_missing
    assert_empty read([{ "type" => "missing", "configuration" => "c1", "reason" => "-" }, @lab.runs.first]).missing
  end

  def test_interrupted_unless_its_last_line_says_otherwise
    refute_predicate read, :interrupted?
    assert_predicate read(@lab.runs), :interrupted?
    assert_predicate read([*@lab.runs, { "type" => "end", "interrupted" => true }]), :interrupted?
    assert_predicate read([{ "type" => "end", "interrupted" => false }, *@lab.runs]), :interrupted?
    assert_predicate read([]), :interrupted?
  end

  def test_the_later_of_two_runs_counts
    run = @lab.runs.first

    assert_equal [7.0], read([run, run.merge("rate" => 7.0)]).runs.map(&:rate)
  end

  def test_what_was_measured_of_a_round_before_it_was_measured_again_does_not_count
    failure = { "type" => "failure", "configuration" => "c1", "load" => "l1", "block" => 0, "reason" => "died" }
    first, later = @lab.runs.partition { |run| run["block"].zero? }
    results = read([failure, *first, *later, { "type" => "again", "block" => 0 }, first.last])

    assert_equal [first.last, *later].map { |run| run.values_at("configuration", "load", "block") }.sort,
                 results.runs.map(&:key).sort
    assert_empty results.failures
  end

  DAMAGED = ["{\"type\":\"run\"", "\xFF\xFE", "[1]", "{}", "", "{\"type\":7}", "\0" * 100].freeze

  def test_damaged_lines_are_left_out_and_named
    DAMAGED.each do |line|
      write(*@lab.records.map(&:to_json).insert(3, line))
      results = Results.read(@directory)

      assert_equal 12, results.runs.length, line.inspect
      assert_equal [[5, "no JSON object with a type"]], results.damages.map(&:to_a), line.inspect
    end
  end

  def test_torn_last_line
    write(*@lab.runs.map(&:to_json))
    File.write(path, "{\"type\":\"ru", mode: "a")
    results = Results.read(@directory)

    assert_equal [[14, "torn"]], results.damages.map(&:to_a)
    assert_equal 12, results.runs.length
  end

  UNFIT = { { "configuration" => "c9" } => "a run of an unknown configuration",
            { "load" => "l9" } => "a run of an unknown load",
            { "block" => "1" } => "a run without configuration, load and block",
            { "rate" => nil } => "a run without a rate",
            { "valid" => nil } => "a run whose valid is neither true nor false",
            { "boot" => "long" } => "a run with a damaged boot",
            { "ms" => { "p50" => "fast" } } => "a run with a damaged ms",
            { "server" => { "pss" => [nil] } } => "a run with a damaged server",
            { "histogram" => { "slots" => "x" } } => "a run with a damaged histogram" }.freeze

  def test_runs_that_say_nothing
    UNFIT.each do |change, reason|
      results = read([@lab.runs.first.merge(change), @lab.runs[1]])

      assert_equal [[2, reason]], results.damages.map(&:to_a)
      assert_equal 1, results.runs.length
    end
  end

  def test_header_that_can_not_be_read
    ["{\"type\":", "\xFF", "7", "{}", { schema: "cuttle-lab/2" }.to_json, { schema: "cuttle-lab/1" }.to_json,
     @lab.header.merge("loads" => [{}]).to_json].each do |line|
      File.write(path, "#{line}\n#{@lab.runs.first.to_json}\n")
      assert_match(/results\.jsonl, line 1: /, assert_raises(Failure, line) { Results.read(@directory) }.message)
    end
  end

  def test_no_results
    assert_match(/no results in/, assert_raises(Failure) { Results.read(@directory) }.message)
    assert_match(/no results in/, assert_raises(Failure) { Results.read(File.join(@directory, "nowhere")) }.message)
    File.write(path, "")
    assert_match(/empty/, assert_raises(Failure) { Results.read(@directory) }.message)
  end

  def test_by_the_file_itself
    write(*@lab.records.map(&:to_json))

    assert_equal @directory, Results.read(path).directory
  end

  # Anything at all in place of some octets: read, or refused in one line.
  def test_any_damage
    write(*@lab.records.map(&:to_json))
    whole = File.binread(path)
    random = Random.new(1)
    200.times do
      octets = whole.dup
      (1 + random.rand(5)).times { octets.setbyte(random.rand(octets.bytesize), random.rand(256)) }
      File.binwrite(path, octets)
      read_or_refused
    end
  end

  private

  def path
    File.join(@directory, "results.jsonl")
  end

  def write(*lines)
    File.write(path, [@lab.header.to_json, *lines].map { |line| "#{line}\n" }.join)
  end

  def read(records = @lab.records)
    write(*records.map(&:to_json))
    Results.read(@directory)
  end

  def read_or_refused
    results = Results.read(@directory)
    assert_operator results.runs.length, :<=, 13
    Cuttle::Lab::Analysis.new(results).verdict.each { |sentence| assert_kind_of String, sentence }
  rescue Failure => error
    refute_includes error.message, "\n"
  end
end
