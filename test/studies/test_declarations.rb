# frozen_string_literal: true

require "test_helper"

# What studies say of themselves: those there are, and those that are wrong.
class TestStudyDeclarations < Minitest::Test
  include TemporaryDirectory

  Studies = Cuttle::Studies

  # Those of this project, read once.
  def self.all = @all ||= Studies.all

  def setup
    FileUtils.mkdir_p("#{@directory}/published")
    File.write("#{@directory}/published/x.csv",
               "id,server,concurrency,rps,p50_ms\nx.1,slow,1,10,100\nx.2,fast,1,20,50\nx.3,odd,1,1,\n")
    File.write("#{@directory}/published/claims.csv", "study,claim\nx.2,the fast one is faster\n")
  end

  def test_those_there_are_can_be_read
    all.each do |study|
      [study.title, study.source, study.question, study.design].each { |text| refute_empty text, study.name }
      study.entries.each { |entry| assert entry.reason || entry.conditions.any?, "#{study.name} #{entry.row.id}" }
    end
  end

  def test_every_published_row_is_in_one_study
    studied = all.flat_map(&:entries).map(&:row).select(&:file).group_by(&:file)
    Studies::Published.files.each do |file|
      assert_equal Studies::Published.rows(file).map(&:line), studied.fetch(file, []).map(&:line).sort, file
    end
  end

  def test_every_claim_is_in_one_study
    published, own = all.flat_map { |study| study.claims.map { |claim| [claim.id, study.name] } }
                        .partition { |id, _| Studies::Published.claims.key?(id) }
    assert_equal Studies::Published.claims.keys.sort, published.map(&:first).sort
    assert_equal own.map(&:first).uniq, own.map(&:first)
    own.each { |id, name| assert_equal id[/\A[a-z]\d+/], name[/\A[a-z]\d+/], "#{id} in #{name}" }
  end

  # Else a figure would be about the first of them.
  def test_a_trial_is_known_by_its_columns
    all.each do |study|
      trials = study.entries.map(&:row).reject(&:file).map(&:columns)
      assert_equal trials.uniq, trials, study.name
    end
  end

  def test_a_study_is_what_its_file_says
    study = declare
    assert_equal ["s-x", "X", %w[x.1 x.2 x.3]], [study.name, study.title, study.ids]
    slow, fast, odd = study.entries
    assert_equal ["single", "unicorn", 2],
                 slow.conditions.first.then { |condition| [condition.model, condition.like, condition.workers] }
    assert_equal %w[cuttle puma], fast.conditions.map(&:server)
    assert_equal "can't be had", odd.reason
    assert_equal({ "rate" => 20.0, "p50" => 50.0 }, fast.row.values)
    assert_equal "the fast one is faster", study.claims.first.text
  end

  # Thin has no option to close connections: requests ask for it then, and the load is the same for all.
  def test_a_server_that_keeps_connections_is_asked_to_close_them
    study = declare('title "X"; published("x.csv") { |_| serve engine: "reactor", original: "thin:evented"; ' \
                    'ask get("/"), connections: 1 }')
    conditions = study.entries.first.conditions
    assert_equal [false, true], conditions.map { |condition| condition.configuration["keep_alive"] }
    assert_equal [false, false], conditions.map { |condition| condition.load(Studies::Scale.new(1))["keep_alive"] }
    refute_includes conditions.last.name, "keep-alive"
  end

  def test_an_app_has_a_profile
    study = declare("app \"work\", profile: { cpu_ms: 1 }\n#{body}")
    options = Studies::Experiment.new(study, scale: Studies::Scale.new(1), directory: @directory, seed: 1,
command: []).options
    assert_equal ["work", { cpu_ms: 1 }], [options.app, options.profile]
  end

  def test_a_part_of_one_has_what_its_claims_need
    part = declare.only(%w[x.2])
    assert_equal %w[x.1 x.2], part.ids
    assert_equal 1, part.claims.length
    assert_equal %w[x.1], declare.only(%w[x.1]).ids
    assert_empty declare.only(%w[x.1]).claims
    assert_equal declare.ids, declare.only(%w[s]).ids
  end

  # On a machine with enough cores: each claim on the servers that it is about, and these alone.
  def test_what_decides_the_claims
    s0 = Studies.find("s0-ab")
    whole = s0.claimed(cores: 4)
    assert_equal %w[s0.4 s0.5 s0.8 s0.9 s0.10], whole.deciding
    assert_equal %w[s0.4 s0.5 s0.8 s0.9], s0.claimed(cores: 2).deciding
    assert_operator whole.conditions.length, :<=, s0.conditions.length / 2
    assert_equal s0.claims.select(&:published?).map(&:id), whole.claims.map(&:id), "also those that can't be tested"
    assert_equal [s0.measured(whole.claims.find { |claim| claim.id == "s0.8" }, :originals).values],
                 [whole.claimed(%w[s0.8]).conditions.reverse]
    gone = whole.claims.find { |claim| claim.id == "s0.2" }
    assert_match(/about a WEBrick/, gone.reason(4))
  end

  # Otherwise a scale would hide what the study shows.
  def test_what_depends_on_the_quantum_ignores_a_scale
    scaled = all.map { |each| [each.name, each.scale(Studies::Scale.new(0.1))] }
    assert_equal %w[q20-quantum q24-gc s0-quantum], scaled.select { |_, scale| scale.full? }.map(&:first)
  end

  def test_every_study_has_a_control
    all.each do |each|
      one, copy = each.control
      assert_equal one.with(copy: nil), copy.with(copy: nil), each.name
      refute_equal one, copy, each.name
    end
  end

  def test_selection
    studies = [declare]
    assert_equal [%w[x.1 x.2]], Studies.select(%w[x.2], from: studies).map(&:ids)
    assert_equal studies, Studies.select(%w[all], from: studies)
    error = assert_raises(Cuttle::UsageError) { Studies.select(%w[x.2 y.9], from: studies) }
    assert_equal 'no study "y.9": s-x, a number such as x.1, or all', error.message
  end

  def test_an_error_names_the_problem_in_one_line
    { 'published("y.csv") { |_| }' => /y\.csv: No such file/, 'published("x.csv", only: /z/) { |_| }' => /no row is/,
      'published("x.csv") { |_| }' => /x\.csv, line 2: neither/,
      "claim \"x.2\" =>" => /study\.rb: .*syntax error/,
      "frob 1" => /study\.rb: undefined method `?'?frob/,
      'claim "x.9", "?" => [rate("x.1"), rate("x.2"), 1..]' => /no x\.9/,
      "#{body}\nclaim \"x.2\", \"?\" => [rate(\"x.1\"), rate(\"x.3\"), 1..]" =>
        /about rate of x\.3, which is not measured/ }
      .each { |text, message| assert_match message, assert_raises(Studies::Failure, text) { declare(text) }.message }
  end

  private

  def all = self.class.all

  def declare(text = "#{body}\nclaim \"x.2\", \"fast by slow\" => [rate(\"x.2\"), rate(\"x.1\"), 1..]")
    FileUtils.mkdir_p("#{@directory}/s-x")
    File.write("#{@directory}/s-x/study.rb", text)
    Studies::Declaration.read("#{@directory}/s-x/study.rb")
  end

  def body
    <<~RUBY
      title "X"
      published "x.csv" do |row|
        next skip("can't be had") if row["server"] == "odd"

        serve(**(row["server"] == "slow" ? { like: "unicorn", engine: "single", workers: 2 } : { engine: "hybrid",
                                                                                                 original: "puma" }))
        ask work(cpu_ms: 5, iowait_ms: 20), connections: row.number("concurrency"), requests: 50
      end
    RUBY
  end
end
