# frozen_string_literal: true

require "test_helper"
require_relative "../lab/support/synthetic_lab"
require_relative "../report/support/looked_at"
require_relative "support/made_up"

# The advice as text and as a page.
class TestTuneReport < Minitest::Test
  include MadeUp

  HAVE = Cuttle::Tuner::Setting.new(threads: 3)
  BEST = Cuttle::Tuner::Setting.new(workers: 2, threads: 3)

  def advice(measured = { HAVE => [30.0, 80.0], BEST => [50.0, 60.0] }, limits: {}, warnings: [], present: HAVE,
             model: Plain, rounds: 5, engines: %w[single hybrid],
             profile: profile(connections: { "process" => 0, "thread" => 1 }))
    given = Tuner::Options.new(limits: Tuner::Limits.new(**limits), present: present, place: "config/cuttle.rb",
                               engines: engines, command: ["cuttle", "tune", "--app", "a b"], seed: 1)
    found = verified(measured, rounds: rounds) if measured
    Tuner::Advisor.new(given, profile: profile, verified: found, cores: 1, here: 1, model: model.method(:new))
                  .advice(id: "1", taken_at: "2026-11-24T07:00:00.000Z", app: "made up", warnings: warnings)
  end

  def text(...)
    Tuner::Report.text(advice(...))
  end

  def test_the_answer_is_the_first_sentence
    lines = text.lines(chomp: true)
    assert_equal "made up, tune 1, 1 core for the server", lines[0]
    assert_match(/\ARun hybrid -w 2 -t 3 instead of hybrid -t 3 \(config\/cuttle\.rb\): 1\.6\d \(1\.\d+ to /, lines[2])
    assert_match(/\AIt serves (49|50)\.\d \(.* to .*\)\/s at most \(measured in 5 rounds\)/, lines[3])
  end

  def test_each_kind_of_answer_is_a_sentence
    same = text({ HAVE => [50.0, 60.0], BEST => [50.0, 60.0] })
    assert_includes same, "Keep hybrid -t 3 (config/cuttle.rb): no setting is measurably better."
    assert_match(/^A difference of 1\.\d% in capacity would have been detected\.$/, same)
    assert_includes text({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0] }, limits: { rate: 40.0 }),
                    "breaks a limit: capacity 30.0/s, below the rate of 40.0/s"
    none = text(nil, limits: { memory: 10_000_000 })
    assert_match(/^No setting keeps the limits\. hybrid\S* .*comes nearest: /, none)
    assert_includes none, "memory 30.0 MB, 3 times the limit of 10.0 MB."
    assert_includes none, "(predicted)"
  end

  # A target rate asks for no more, so a setting of a quarter of the capacity may be the answer.
  def test_what_is_as_good_for_a_rate_is_so_at_that_rate_only
    kept = text({ HAVE => [58.0, 60.0], BEST => [90.0, 60.0] }, limits: { rate: 35.0 })
    assert_includes kept, "Keep hybrid -t 3 (config/cuttle.rb): no setting is measurably better at 35.0/s."
    dear = "hybrid -w 4 -t 3 \\(config/cuttle\\.rb\\)"
    assert_match(%r{^Run .*: it is predicted to be as fast as #{dear} at 5\.0/s, and takes .* less memory\.$},
                 text(nil, present: setting("hybrid", 4, 3), limits: { rate: 5.0 }))
  end

  # After Ctrl-C during the first round, for example.
  def test_what_was_not_compared_is_not_called_the_best
    few = "Keep hybrid -t 3 (config/cuttle.rb): too little was measured to find a better setting."
    assert_includes text({ HAVE => [50.0, 60.0] }), few
    assert_includes text({ HAVE => [50.0, 60.0], BEST => [50.0, 60.0] }, rounds: 1), few
    assert_includes text(nil, present: BEST), "(config/cuttle.rb): no setting is predicted to be better.\n"
  end

  # Too few responses have no p99, and the open loop of a setting may have no valid run.
  def test_what_is_predicted_of_a_measured_setting_is_called_so
    words, plain = Tuner::Report::Words, outcome(BEST, capacity: 80, p95: 0.06)
    counted = %i[capacity p50 p95].to_h do |name|
      [name, Cuttle::Lab::Statistics::Estimate.new(plain[name].value, nil, nil, 5)]
    end
    some, none = [counted, counted.slice(:capacity)].map do |figures|
      plain.confirmed(Tuner::Measurement.new(setting: BEST, rounds: 5, **figures))
    end
    assert_equal "measured in 5 rounds, p99 predicted", words.source(some)
    assert_equal "measured in 5 rounds, p50, p95 and p99 predicted", words.source(none)
    assert_equal "measured in 5 rounds", words.source(none, %i[capacity])
    answer = Struct.new(:choice, :demand).new(some, some.demand)
    assert_match(%r{\AAt 50\.0/s: p50 30\.0 ms, p95 60\.0 ms, predicted p99 90\.0 ms \(}, words.times(answer))
    assert_equal "p99 90.0 ms (predicted), 1.50 times the limit of 60.0 ms",
                 Tuner::Report::LimitWords.excess(some, Tuner::Limits.new(p99: 0.06))
    given = Tuner::Advice.new(**advice.each_pair.to_h, kind: :best, choice: none, present: nil, alternatives: [])
    assert_equal 1, Tuner::Report.html(given).scan('class="marker s1 hollow"').length, "that of the p95"
  end

  def test_a_step_that_breaks_a_limit_says_so
    broken = text(limits: { rate: 32.0 })
    assert_match(%r{^  2 -> no workers: .*; breaks a limit: capacity 30\.0/s, below the rate of 32\.0/s$}, broken)
    refute_includes text, "breaks"
  end

  # One core serves 50 requests a second.
  def test_a_circumstance_under_which_no_setting_keeps_the_limits_says_so
    text = text(limits: { rate: 32.0 })
    assert_match(%r{^  at 64\.0/s: .*/s at most; it breaks a limit: capacity$}, text)
    assert_match(%r{^  with 2 cores: .*/s at most$}, text)
  end

  def test_questions_have_their_answers
    text = text()
    assert_match(/^  3 -> 4 threads: .* capacity, .*2 more database connections$/, text)
    assert_match(/^  with 2 cores: hybrid/, text)
    assert_match(/^  2 -> no workers: -40% capacity, no longer keeps up, -30.0 MB/, text)
    assert_includes text, "cuttle tune --app a\\ b"
    assert_match(/^hybrid -t 3 +9 connections +capacity /, text)
  end

  def test_large_and_small_figures_are_written_in_full
    assert_includes text(nil, limits: { rate: 0.1 }), "Headroom: it can serve 300 times 0.1/s (the target rate)."
    outcome = outcome(HAVE, capacity: 50, cpu: 0.004)
    assert_equal "It takes 0.004 cores at that rate.", Tuner::Report::Words.occupies(outcome)
    assert_equal "p99 150 ms, 150.0 times the limit of 1.00 ms",
                 Tuner::Report::LimitWords.excess(outcome, Tuner::Limits.new(p99: 0.001))
  end

  # One process runs them all.
  def test_ractors_are_counted_as_such
    text = text(nil, engines: %w[ractors], present: setting("ractors", 2, 3))
    assert_match(/^Keep ractors --ractors 2 -t 3 /, text)
    assert_match(/^  2 -> 1 ractors: /, text)
    assert_match(/^ractors: predicted requests per second, ractors by threads\n.*\n--ractors 1 /, text)
  end

  # The plain model of an app without a database.
  class Unconnected < Plain
    def forecast(...)
      Cuttle::Tuner::Forecast.new(**super.to_h, connections: nil)
    end
  end

  def test_a_table_has_no_column_that_says_nothing
    [advice, advice(model: Unconnected)].zip([true, false]).each do |each, told|
      assert_equal told, Tuner::Report.text(each).include?("DB connections")
      assert_equal told, Tuner::Report.html(each).include?('data-label="DB connections"')
    end
    assert_match(%r{^at 35\.0/s +requests/s +p50 +p95 +p99 +memory$}, text(model: Unconnected))
  end

  # The measured server had a connection for each thread.
  def test_more_threads_need_a_larger_pool
    need = "Each process needs a database pool of 3 connections (with Rails: RAILS_MAX_THREADS=3)."
    one = { setting("hybrid", 0, 1) => [10.0, 90.0], BEST => [50.0, 60.0] }
    assert_includes text(one, present: setting("hybrid", 0, 1)), need
    refute_includes text(one, present: setting("hybrid", 0, 1), model: Unconnected), "pool"
    refute_includes text(), "pool"
    found = { setting("hybrid", 0, 1) => [10.0, 90.0], BEST => [50.0, 60.0], auto(2) => [50.0, 60.0] }
    assert_includes text(found, present: setting("hybrid", 0, 1)), need, "auto had the pool of its rival"
    refute_includes text(found.except(setting("hybrid", 0, 1)), present: auto(2)), "pool", "which has its own"
  end

  def test_fibers_need_a_limit_for_that_of_connections
    fibers = { engines: %w[fibers], present: setting("fibers") }
    assert_match(/ keeps --db-connections only with --max-fibers 10 \(in a configuration file: max_fibers 10\)\.$/,
                 text(nil, limits: { connections: 20 }, **fibers))
    assert_match(/^Each request may hold a database connection, up to the size of the app's pool\.$/,
                 text(nil, **fibers))
    refute_match(/max.fibers|Each request/, text(nil, model: Unconnected, **fibers))
  end

  def test_auto_that_is_as_good_is_one_sentence
    text = text({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0], auto(2) => [50.0, 60.0] })
    assert_match(/^Run hybrid -w 2 -t auto instead of hybrid -t 3 /, text)
    assert_match(/^It takes .*up to 128 database connections,/, text)
    assert_match(/^Threads: nothing to choose\. -t auto is not measurably worse than -t 3 \(a difference of \d\.\d% /,
                 text)
    assert_match(/^  auto -> 3 threads: .*capacity.*, up to 122 fewer database connections$/, text)
    assert_match(/^  with 2 cores: hybrid -w \d -t auto, /, text)
    refute_includes text(), "Threads: "
    assert_match(/\(only a difference of \d\d\.\d% in capacity would have been detected\)\.$/,
                 Tuner::Report::Words.nothing_to_choose(rough(auto(2))))
    assert_match(/\AThreads: -t auto --max-threads 9 is not measurably worse than -t 3 /,
                 Tuner::Report::Words.nothing_to_choose(rough(auto(2, 9))))
  end

  def rough(auto)
    both = [auto, BEST].map { |each| outcome(each, capacity: 50) }
    Tuner::Advice::Threads.new(auto: both.first, number: both.last, loses: false, detectable: 0.4)
  end

  def test_what_threads_auto_lose_is_shown
    text = text({ HAVE => [30.0, 80.0], BEST => [50.0, 60.0], auto(2) => [45.0, 60.0] })
    assert_match(/^  3 -> auto threads: -1?\d(\.\d)?% capacity, .*up to 122 more database connections$/, text)
    refute_includes text, "Threads: "
    assert_match(/^  3 -> auto threads: .* \(auto is predicted as -t 4\)$/, text())
  end

  # Also where auto with that limit is as good as the number.
  def test_a_limit_of_threads_auto_that_is_too_low_is_the_reason_in_one_sentence
    why = "Threads: -t auto stops at 5, because no database pool is known: 20.0/s at most (predicted as -t 5)."
    raised = waits(present: auto)
    assert_match(/^Run hybrid -t auto --max-threads 20 instead of hybrid -t auto \(config\/cuttle\.rb\): 4\.00 times /,
                 raised)
    assert_match(/^If the app has a pool of connections, it needs 20 in each process\.$/, raised)
    assert_match(/^  -t auto --max-threads 20 -> -t auto: -75% capacity/, raised)
    assert_match(/^Run hybrid -t 20 instead of hybrid -t 3 /, number = waits)
    assert_match(/^  -t 20 -> -t auto --max-threads 20: the same capacity \(auto is predicted as -t 20\)$/, number)
    assert_match(/^  20 -> auto threads: -75% capacity.* \(auto is predicted as -t 5\)$/, number)
    both = waits({ HAVE => [12.0, 90.0], setting("hybrid", 0, 20) => [78.0, 60.0], auto(0, 20) => [78.0, 60.0] })
    assert_match(/^Run hybrid -t auto --max-threads 20 instead of hybrid -t 3 /, both)
    slow = waits({ HAVE => [12.0, 90.0], setting("hybrid", 0, 20) => [30.0, 60.0] })
    assert_match(%r{^It can't keep up with 35\.0/s \(70% of the best predicted capacity\): }, slow)
    [raised, number, both, slow].each { |text| assert_equal [why], text.lines(chomp: true).grep(/^Threads: /) }
  end

  def waits(measured = nil, **options)
    text(measured, profile: waiting, model: Waiting, **options)
  end

  def test_the_reason_names_the_users_limit_and_what_was_measured
    measured = { auto(0, 12) => [48.0, 150.0], setting("hybrid", 0, 20) => [78.0, 60.0] }
    assert_match(%r{^Threads: -t auto stops at 12, its limit: 4\d\.\d/s at most, p95 1\d\d ms at 35\.0/s \(measured },
                 waits(measured, present: auto(0, 12)))
  end

  # In the map, "-t auto" has the limit of the answer.
  def test_the_page_does_not_mark_the_present_auto_in_the_map_where_its_limit_is_too_low
    html = Tuner::Report.html(advice(nil, present: auto, profile: waiting, model: Waiting))
    assert_match(/class="chosen" data-label="-t auto">80.0<small>run<\/small>/, html)
    refute_includes html[/class="heat".*?<\/table>/m], "you have"
  end

  def test_threads_auto_are_forecast_as_a_number
    text = text(nil, present: auto(0, 12))
    assert_match(/^hybrid -t auto --max-threads 12 \(you have\) .* predicted as -t 4$/, text)
    html = Tuner::Report.html(advice(nil, present: auto(2)))
    assert_includes html, '<th scope="col">-t auto</th>'
    assert_match(/class="chosen" data-label="-t auto">50.0<small>run<\/small><\/td><\/tr>/, html)
  end

  def test_the_text_has_the_warnings
    assert_match(/^! the machine is busy$/, text(warnings: ["the machine is busy"]))
  end

  def test_text_from_outside_stays_text
    html = Tuner::Report.html(advice(warnings: ["</script><script>alert(1)</script>"]))
    refute_includes html, "<script>alert"
    assert_includes html, "hybrid -w 2 -t 3"
  end
end

# The page in a browser: on a telephone and on a screen, light and dark.
class TestTunePageInChromium < Minitest::Test
  include MadeUp
  include LookedAt
  include TemporaryDirectory

  def setup
    have, best = setting("hybrid", 0, 3), setting("hybrid", 2, 3)
    File.write("#{@directory}/cuttle.rb", "threads 3\n")
    options = Tuner::Options.new(present: have, place: "config/cuttle.rb", engines: %w[hybrid], seed: 1,
                                 configuration: "#{@directory}/cuttle.rb")
    found = verified({ have => [30.0, 80.0], best => [50.0, 60.0] })
    advice = Tuner::Advisor.new(options, profile: profile, verified: found, cores: 1, here: 1,
                                model: Plain.method(:new))
                           .advice(id: "1", taken_at: "2026-11-24T07:00:00Z", app: "made up", warnings: ["a warning"])
    look_at("#{@directory}/report.html", Tuner::Report.html(advice))
  end

  def test_every_section_is_there
    browser.visit(@path, width: 1280, scheme: "light")
    assert_equal 9, browser.evaluate("document.querySelectorAll('section').length")
    assert_equal 2, browser.evaluate("document.querySelectorAll('.heat .chosen').length")
    data = "JSON.parse(document.getElementById('cuttle-advice').textContent)"
    assert_equal "hybrid", browser.evaluate("#{data}.choice.setting.engine")
    assert_empty browser.complaints
  end

  # Where the map has no head, each cell says its column.
  def test_cells_of_the_map_have_their_threads_on_a_telephone
    browser.visit(@path, width: 420, scheme: "light")
    columns, *rows = browser.evaluate(<<~JS)
      Array.from(document.querySelectorAll(".heat tr")).map((row, index) => index === 0
        ? Array.from(row.cells).slice(1).map(cell => cell.textContent)
        : Array.from(row.querySelectorAll("td")).map(cell => JSON.parse(getComputedStyle(cell, "::before").content)))
    JS
    refute_empty columns
    refute_empty rows
    rows.each { |labels| assert_equal columns, labels }
  end
end
