# frozen_string_literal: true

require "test_helper"
require_relative "support/studied_lab"

# What follows from results whose truth is known.
class TestStudyFindings < Minitest::Test
  Studies = Cuttle::Studies

  def study
    @study ||= Studies.find("s0-ab")
  end

  # A lab in which a configuration serves what its published row says, less or more by what the block adds.
  def lab(scale: 1, cores: 2, **rates)
    StudiedLab.new(study, scale: scale, cores: cores) do |configuration, load, block|
      rate = rates.fetch(configuration["like"]&.to_sym,
                         10.0) * configuration["workers"].clamp(1, 9) * (1 + (0.01 * block))
      [rate / scale,
       { "p50" => 1000.0 * load["connections"] / rate * scale, "p90" => 1100.0 * load["connections"] / rate * scale }]
    end
  end

  def verdict(id, findings, by = "Cuttle")
    findings.verdicts.find { |each| each.claim.id == id && each.by == by }
  end

  def test_published_numbers_stand_beside_ours
    findings = lab(puma: 32.06).findings
    found = findings.reproductions.find do |each|
      each.entry.row.id == "s0.8" && each.metric == "rate" && each.condition.server == "cuttle"
    end
    assert_equal 16.03, found.published
    assert_in_delta 32.06 * 1.01, found.ours.value, 0.001
    assert_in_delta 2.02, found.ratio, 0.001
    assert_operator found.ours.low, :<, found.ours.value
  end

  def test_a_scaled_studys_figures_are_for_the_full_length
    full, scaled = [1, 0.1].map { |scale| lab(scale: scale, puma: 20).findings }
    %w[rate p50].each do |metric|
      values = [full, scaled].map do |each|
        each.reproductions.find { |found| found.entry.row.id == "s0.10" && found.metric == metric }.ours.value
      end
      assert_in_delta(*values, 1e-6, metric)
    end
  end

  # The requests of s0.8 have full length at any scale; those of s0.10 are shortened.
  def test_what_has_full_length_is_not_converted
    findings = lab(scale: 0.1, puma: 20).findings
    rates = %w[s0.8 s0.10].map { |id| findings.estimate(study.entries_of(id).first.conditions.first, "rate").value }
    assert_equal [202.0, 80.8], (rates.map { |rate| rate.round(3) })
    paths = %w[s0.8 s0.10].map { |id| study.entries_of(id).first.conditions.first.load(findings.scale)["path"] }
    assert_match(/cpu_ms=50\.0&/, paths.first)
    assert_match(/cpu_ms=5\.0&/, paths.last)
  end

  def test_claims_are_confirmed_and_refuted_by_intervals
    assert_equal :confirmed, verdict("s0.8", lab(puma: 50, unicorn: 10).findings).verdict
    assert_equal :refuted, verdict("s0.8", lab(puma: 30, unicorn: 10).findings).verdict
  end

  def test_what_the_interval_leaves_open_is_not_decided
    noisy = StudiedLab.new(study) do |configuration, _, block|
      [configuration["like"] == "puma" ? [10, 20, 10][block] : [20, 10, 11][block], {}]
    end
    assert_equal :undecided, verdict("s0.8", noisy.findings).verdict
    one = StudiedLab.new(study, blocks: 1) { |configuration, *| [configuration["like"] == "puma" ? 50 : 1, {}] }
    assert_equal :undecided, verdict("s0.8", one.findings).verdict
  end

  # Percentiles of too few responses come neither from runs nor from a guess.
  def test_without_times_a_claim_about_them_is_not_decided
    rates_only = StudiedLab.new(study) { [10, {}] }
    assert_equal :undecided, verdict("s0.5", rates_only.findings).verdict
  end

  # As fast as was claimed, but not as even.
  def test_every_statement_counts
    uneven = StudiedLab.new(study) { |_, _, block| [3 + (0.01 * block), { "p50" => 3000.0, "p90" => 4500.0 + block }] }
    found = verdict("s0.4", uneven.findings)
    assert_equal %i[confirmed refuted], found.evidence.map(&:verdict)
    assert_equal :partly_refuted, found.verdict
  end

  def test_the_verdict_of_several_statements
    claim = Studies::Claim.new("c", "…")
    { %i[confirmed confirmed] => :confirmed, %i[refuted refuted] => :refuted, %i[border border] => :border,
      %i[confirmed refuted] => :partly_refuted, %i[undecided refuted] => :partly_refuted,
      %i[confirmed undecided] => :partly_confirmed, %i[confirmed border] => :partly_confirmed,
      %i[border undecided] => :undecided }.each do |statements, whole|
      assert_equal whole, claim.verdict(statements), statements.inspect
    end
  end

  # The more statements a claim has, the wider their intervals: 1 of 20 claims may be wrong, not 1 of 20 statements.
  def test_statements_share_the_chance_of_error
    claims = (1..5).map { |count| Studies::Claim.new("c", "…", statements: [nil] * count) }
    assert_equal [0.95, 0.975, 0.983, 0.988, 0.99], (claims.map { |claim| claim.confidence.round(3) })
  end

  def test_what_is_known_to_be_next_to_a_bound_is_at_the_border
    statement = Studies::Claim::Statement.new("…", nil, 1, 1..2)
    verdicts = [[0.96, 1.04], [1.92, 2.08], [0.9, 1.04], [0.5, 0.96], [1.0, 2.0]].map do |low, high|
      statement.verdict(Cuttle::Lab::Statistics::Estimate.new(1, low, high, 5))
    end
    assert_equal %i[border border undecided refuted confirmed], verdicts
  end

  # Cuttle imitates an original WEBrick, whose tail is different.
  def test_a_claim_about_a_server_that_is_gone_is_not_refuted_by_its_model
    findings = StudiedLab.new(study) { |_, load, block| [3, { "p50" => 300.0 * load["connections"] + block }] }.findings
    model, itself = findings.verdicts.select { |each| each.claim.id == "s0.2" }
    assert_equal [true, "Cuttle"], [model.model, model.by]
    assert_equal :untestable, itself.verdict
    assert_match(/about a WEBrick/, itself.reason)
    line = Studies::Report::Summary.new([findings]).published.find { |each| each.claim.id == "s0.2" }
    assert_equal itself, line.main
    assert_match(/more than twice that with 1: 9\.97.*about a WEBrick/, line.evidence)
  end

  # thin itself can refute it; thin's model on Cuttle can only fail to do the same.
  def test_our_core_speaks_for_the_model_where_the_server_is_there
    uneven = StudiedLab.new(study) { |_, _, block| [3, { "p50" => 3000.0 + block, "p90" => 4500.0 + block }] }.findings
    model, itself = uneven.verdicts.select { |each| each.claim.id == "s0.5" }
    assert_equal %w[fails refuted], [model.word, itself.word]
  end

  def test_the_control_is_the_same_measured_twice
    two = Studies.find("s3-hello-rack")
    made = StudiedLab.new(two) { |configuration, _, block| [configuration["copy"] ? 11 + block : 10 + block, {}] }
    found = made.findings.control
    assert_in_delta 1.09, found.value, 0.02
    assert_match(/The A\/A control differs/, Studies::Report::Conditions.troubles(made.findings).join)
    alike = StudiedLab.new(two) { |_, _, block| [10 + block, {}] }.findings
    assert_match(/measured twice, differed by 1.00/, Studies::Report::Conditions.measured(alike))
  end

  # s0-ab's claims rest on a p99.
  def test_a_declared_control_is_compared_in_its_figure
    made = StudiedLab.new(study) do |configuration, _, block|
      [configuration["copy"] ? 20.0 : 10.0, { "p99" => 500.0 + block }]
    end
    assert_equal %w[s0.9 p99], [study.repeated.id, study.control_metric]
    assert_in_delta 1, made.findings.control.value, 1e-9
    part = study.claimed(%w[s0.4])
    assert_equal "rate", part.control_metric, "the first condition, if the declared one is not in that part"
  end

  # An interval as wide as this one can't show a difference of 10%.
  def test_the_threats_name_controls_that_could_hardly_have_disagreed
    wide = StudiedLab.new(study) { |_, _, block| [10, { "p99" => 500.0 + block }] }
    noisy = StudiedLab.new(study) do |configuration, _, block|
      [10, { "p99" => configuration["copy"] ? 500.0 : [600.0, 400.0, 520.0][block] }]
    end
    texts = [wide, noisy].map { |made| Studies::Report::Threats.controls([made.findings]) }
    assert_includes texts.first, "agreed in 1; in 0 of these"
    assert_includes texts.last, "agreed in 1; in 1 of these"
  end

  # Starts differ by up to a third, loads of the same start hardly. A pair that happens to differ as little as these
  # has an interval that knows of the starts of all others.
  def test_noise_comes_from_different_starts
    text = <<~RUBY
      16.times do |number|
        [4, 8].each do |connections|
          trial "q1", server: number, connections: connections do
            serve engine: "hybrid", threads: number + 1
            ask work(cpu_ms: 5), connections: connections
          end
        end
      end
      expect "q1", "alike", "both" => [rate("q1", server: 0, connections: 4), rate("q1", server: 1, connections: 4), 1..]
    RUBY
    random = Random.new(1)
    starts = Hash.new { |hash, start| hash[start] = start.first > 2 ? random.rand(0.8..1.2) : 1.0 }
    made = StudiedLab.new(declared(text), blocks: 5) do |configuration, _, block|
      [10 * starts[[configuration["threads"], block]] * random.rand(0.999..1.001), {}]
    end
    found = made.findings.verdicts.first.evidence.first.found
    assert_operator found.high, :>, found.low * 1.01
  end

  # Copies that a study compares itself are its control. In an open loop the rate is given, so times are compared.
  def test_the_control_of_copies_and_of_an_open_loop
    text = <<~RUBY
      [1, 2].each do |copy|
        trial "q1", copy: copy do
          serve engine: "single", copy: copy
          ask work(cpu_ms: 5), connections: 4, rate: 50
        end
      end
    RUBY
    found = StudiedLab.new(declared(text)) do |configuration, _, block|
      [50, { "p50" => (configuration["copy"] == 2 ? 12.0 : 10.0) + block }]
    end.findings.control
    assert_in_delta 1.18, found.value, 0.02
  end

  def test_what_takes_more_cores_is_not_tested
    made = StudiedLab.new(Studies.find("s0-pairs"), cores: 1) { [10, {}] }
    found = made.findings.verdicts.find { |each| each.claim.id == "s0.12" }
    assert_equal :untestable, found.verdict
    assert_match(/needs 2 server cores; the servers had 1/, found.reason)
  end

  # With two cores, one statement of s0.12 is tested, and the other has a forecast.
  def test_a_statement_may_need_more_cores_than_its_claim
    pairs = Studies.find("s0-pairs")
    made = StudiedLab.new(pairs, cores: 2, run: { "server" => { "cpu_us" => 50_000 } }) do |configuration, load, block|
      [(configuration["workers"].zero? ? 1 : 10) * load["connections"] * (1 + (0.001 * block)), {}]
    end
    found = made.findings.verdicts.find { |each| each.claim.id == "s0.12" }
    assert_equal [:partly_confirmed, %i[confirmed untestable]], [found.verdict, found.evidence.map(&:verdict)]
    assert_equal [4], (found.forecast.map { |statement, _| statement.cores })
    evidence = Studies::Report::Markdown.evidence(found)
    assert_includes evidence, "4x16 by 4 processes, at 10: it needs 4 server cores. On a machine of 5 cores or more: " \
                              "`cuttle study s0.12`. Forecast by the model"
    assert_empty made.findings.imprecise(0.5), "no rounds for what can't be tested"
  end

  # On a shared core, the load's share is missing in a rate; CPU time and memory don't depend on it, and what another
  # load tester takes is a part of the question.
  def test_rates_are_not_tested_where_the_load_takes_the_servers_time
    cores = { "server_cores" => [0, 1], "load_cores" => [1] }
    busy, calm, siege = [["s0-pairs", 0.05], ["s0-pairs", 0.02], ["s0-sweeps", 0.05]].map do |name, share|
      StudiedLab.new(Studies.find(name), environment: cores, run: { "load_cpu" => share }) do |server, load, round|
        [(server["workers"].zero? ? 1 : 10) * load["connections"] * (1 + (0.001 * round)), {}]
      end.findings
    end
    found = verdict("s0.12", busy)
    assert_equal :untestable, found.verdict
    evidence = Studies::Report::Markdown.evidence(found)
    assert_includes evidence, "1x16 by 4 processes, at 10: the load took 5% of a core that it shared with the servers"
    assert_equal :confirmed, verdict("s0.12", calm).evidence.first.verdict
    assert_empty verdict("s0.siege", siege).evidence.filter_map(&:reason)
  end

  # A server's numbers are known by its columns; a claim is tried on the servers that it is about.
  def test_questions_have_figures_of_their_own
    found = asked do |configuration, load, block|
      [configuration["workers"] * 10.0 + (load["rate"] || 0) + block, { "p99" => 5.0 + block }]
    end
    by, others = found.verdicts
    assert_equal ["Cuttle and puma", :confirmed], [by.by, by.verdict]
    assert_equal ["Cuttle", %i[refuted confirmed confirmed]], [others.by, others.evidence.map(&:verdict)]
  end

  def test_what_is_missing_here_can_not_be_tested
    claims = asked(missing: "puma") { [10.0, {}] }.verdicts
    assert_equal [:untestable, "puma -w 1: not here"], [claims.first.verdict, claims.first.reason]
    refute_equal :untestable, claims.last.verdict
  end

  # A server with errors can't be measured for speed, only for errors.
  def test_errors_are_estimated_from_runs_that_they_make_invalid
    lab = asked(run: { "valid" => false, "reasons" => ["wrong answers: status_5xx 100"],
                       "errors" => { "status_5xx" => 100 } }) { [10.0, {}] }
    condition = lab.study.conditions.first
    assert_nil lab.estimate(condition, "rate")
    assert_in_delta 0.1, lab.estimate(condition, "errors").value
  end

  # No error in 1,000 requests per round does not prove that there are none: one in 813 is possible (3 of 3,000, and
  # more).
  def test_no_error_gives_an_upper_bound
    many, some = failing([0, 0, 0], [0.001, "1.."], [0.01, "1.."])
    assert_equal %i[undecided refuted], [many.verdict, some.verdict]
    assert_in_delta 1.229, many.evidence[0].found.high, 0.001
    assert_includes Studies::Report::Markdown.evidence(many), "errors: at most 0.123%, expected above 0.1%"
  end

  # A server whose starts fail in 10%, 20% and 40% is not known as well as 3,000 requests would say.
  def test_a_share_of_errors_varies_between_starts
    found = failing([100, 200, 400], [0.01, "1.."]).first.evidence.first.found
    assert_equal [20.0, 100.0], [found.value, found.high], "no more than all"
    assert_in_delta 20 / Math.exp(4.303 * Math.log(2) / Math.sqrt(3)), found.low, 0.1
  end

  # One start of five that fails says little about the next one, however many requests failed.
  def test_starts_that_disagree_about_errors_decide_nothing
    verdicts = failing([0, 0, 600, 0, 0], [0.1, "1.."], [0.01, "..1"])
    assert_equal %i[undecided undecided], verdicts.map(&:verdict)
  end

  def test_a_ratio_that_rounds_to_a_bound_has_more_digits
    statement = Studies::Claim::Statement.new("one by other", Studies::Claim::Figure.new("rate", "q1", {}), 1, 2..)
    found = Cuttle::Lab::Statistics::Estimate.new(1.84, 1.69, 1.996, 5)
    assert_equal "one by other: 1.84 (1.69 to 1.996), expected above 2",
                 Studies::Report::Figures.tested(Studies::Tested.new(statement, found, :refuted))
  end

  def test_memory_and_the_busiest_worker
    server = { "pss_total" => 50_000_000, "cpu_us" => 7.0, "cpu_by_process" => [0.001, 1.0, 3.0] }
    lab = asked(run: { "server" => server }) { [10.0, {}] }
    two = lab.study.conditions.find { |condition| condition.workers == 2 }
    assert_equal [50.0, 7.0, 1.5], %w[memory cpu spread].map { |metric| lab.estimate(two, metric).value }
  end

  def test_a_claim_about_certain_servers_is_tried_on_these_alone
    text = <<~RUBY
      [1, 2].each do |workers|
        trial "q1", workers: workers do
          serve engine: "single", workers: workers, original: "puma"
          ask work(cpu_ms: 5), connections: 4
        end
      end
      two_by_one = [rate("q1", workers: 2), rate("q1", workers: 1), 1.5..]
      expect "both", "anywhere", "2 by 1" => two_by_one
      expect "ours", "with us", on: :ours, "2 by 1" => two_by_one
      expect "theirs", "with Puma", on: :originals, "2 by 1" => two_by_one
    RUBY
    lab = StudiedLab.new(declared(text)) do |configuration, *|
      [configuration["server"] == "puma" ? 1 : configuration["workers"], {}]
    end
    found = lab.findings
    assert_equal [["both", "Cuttle", :confirmed], ["both", "puma", :refuted], ["ours", "Cuttle", :confirmed],
                  ["theirs", "puma", :refuted]],
                 found.verdicts.map { |each| [each.claim.id, each.by, each.verdict] }
    assert_match(/on: :all is none of/, assert_raises(Studies::Failure) { declared(text.sub(":ours", ":all")) }.message)
  end

  # Whichever is larger: the second copy is 2% faster or slower, and each block 10% or so off the last.
  def test_how_far_two_measurements_are_apart
    text = <<~RUBY
      [1, 2].each do |copy|
        trial "q1", copy: copy do
          serve engine: "single", copy: copy
          ask work(cpu_ms: 5), connections: 4
        end
      end
      expect "together", "in a block", "copies" => apart(rate("q1", copy: 1), rate("q1", copy: 2), ..1.05)
      expect "apart", "from block to block", "one copy" => apart(rate("q1", copy: 1), ..1.05)
    RUBY
    found = StudiedLab.new(declared(text), blocks: 8) do |configuration, _, block|
      [[100, 90, 110, 100][block % 4] * (configuration["copy"] == 2 ? 0.98**((-1)**block) : 1), {}]
    end.findings
    together, apart = found.verdicts
    assert_equal %i[confirmed refuted], [together, apart].map(&:verdict)
    assert_in_delta 1 / 0.98, together.evidence[0].found.value, 1e-9
    assert_in_delta Math.sqrt(100 / 90.0 * 1.1), apart.evidence[0].found.value, 1e-9
  end

  # Thin has no option to close a connection, so requests ask for it.
  def test_kept_and_closed_connections_of_one_that_always_keeps_them
    text = <<~RUBY
      [true, false].each do |kept|
        trial "q1", kept: kept do
          other "thin:evented", keep_alive: kept
          ask work(cpu_ms: 5), connections: 4
        end
      end
    RUBY
    lab = StudiedLab.new(declared(text)) { |_, load, _| [load["keep_alive"] ? 20.0 : 10.0, {}] }.findings
    assert_equal([20.0, 10.0], lab.study.conditions.map { |condition| lab.estimate(condition, "rate").value })
  end

  def test_one_line_names_percentiles_without_a_number
    few = asked { |_, load, _| [10.0, load["rate"] ? {} : { "p99" => 3.0 }] }
    said = "Too few responses for p99 in 1 row: a percentile needs ten responses beyond it"
    assert_includes Studies::Report::Text.render(few), said
    assert_includes Studies::Report::Readme.render(few), said
    refute_includes Studies::Report::Text.render(asked { [10.0, { "p99" => 3.0 }] }), "Too few"
  end

  def test_the_report_has_every_row_and_verdict
    findings = lab(puma: 50, unicorn: 10).findings
    [Studies::Report::Text, Studies::Report::Markdown].each do |form|
      text = form.render(findings)
      study.ids.each { |id| assert_includes text, id }
      assert_match(/confirmed/, text)
      assert_includes text, "cuttle like puma -w 4 -t 16"
    end
  end

  # One request at a time takes 300 ms, of which 50 are CPU time: four processes have no more than their cores can do.
  def test_a_claim_that_needs_more_cores_has_a_forecast
    found = verdict("s0.10", computing(cores: 2).findings, nil)
    assert_equal :untestable, found.verdict
    forecast = found.forecast.to_h.transform_keys(&:text)
    assert_in_delta 1.03, forecast.fetch("p50 by the time of a request alone"), 0.05
    assert_operator forecast.fetch("p99 by p50"), :>, 1
    assert_nil verdict("s0.10", computing(cores: 4).findings).forecast
  end

  def test_a_forecast_is_marked_as_one_and_needs_measurements
    told = ->(lab) { Studies::Report::Figures.reason(verdict("s0.10", lab.findings, nil)) }
    assert_includes told[computing(cores: 2)], "Forecast by the model of `cuttle tune`, not measured: p50 by"
    refute_includes told[lab(puma: 20)], "Forecast" # without CPU times
  end

  private

  # Findings of a small study of questions. missing: name of a server that is not here. run: what its runs have beside.
  def asked(missing: nil, run: {}, &value)
    StudiedLab.new(questions, missing: missing, run: run, &value).findings
  end

  def questions
    declared(<<~RUBY)
      cores 2
      trial "q1", server: "ours" do
        serve engine: "single", workers: 2
        ask work(cpu_ms: 5), connections: 4
      end
      trial "q1", server: "puma" do
        other "puma", workers: 1
        ask work(cpu_ms: 5), connections: 4
      end
      trial "q2" do
        serve engine: "single", workers: 2
        ask work(cpu_ms: 5), connections: 4, rate: 100, poisson: true
      end
      expect "q1.1", "ours is faster", "ours by puma" => [rate("q1", server: "ours"), rate("q1", server: "puma"), 1..]
      expect "q1.2", "as fast as they come",
             "by 1/s" => [rate("q2"), 1, ..2], "by the closed loop" => [rate("q2"), rate("q1", server: "ours"), 1..],
             "evenly" => [p99("q2"), p99("q1", server: "ours"), 0.9..1.1]
    RUBY
  end

  # Verdicts on claims about a server whose starts failed that many of 1,000 requests each. claims: [share, range of the
  # errors by that share]
  def failing(failures, *claims)
    text = "trial('q1') { |_| serve engine: 'single'; ask work(cpu_ms: 5), connections: 4 }\n" +
           claims.map { |share, range| "expect 'c', '…', 'errors' => [errors('q1'), #{share}, #{range}]\n" }.join
    StudiedLab.new(declared(text), blocks: failures.length) do |_, _, block|
      wrong = { "valid" => false, "reasons" => ["wrong answers: status_5xx"],
                "errors" => { "status_5xx" => failures[block] } }
      [10.0, {}, (wrong if failures[block].positive?)]
    end.findings.verdicts
  end

  # A Study.
  def declared(text)
    Dir.mktmpdir do |root|
      FileUtils.mkdir_p("#{root}/q")
      File.write("#{root}/q/study.rb", text)
      Studies::Declaration.read("#{root}/q/study.rb")
    end
  end

  # Servers whose requests compute for 50 ms and wait for 250.
  def computing(cores:)
    StudiedLab.new(study, cores: cores, run: { "server" => { "cpu_us" => 50_000 } }) do |_, load, _|
      [load["connections"] / 0.3, { "p50" => 300.0, "p90" => 310.0, "p99" => 320.0 }]
    end
  end
end
