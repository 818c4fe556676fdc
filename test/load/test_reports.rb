# frozen_string_literal: true

require "test_helper"
require "json"
require "stringio"
require "tmpdir"

# Reports, marks, assertions and comparisons, of results made for the purpose.
class TestLoadReports < Minitest::Test
  Load = Cuttle::Load
  Reports = Cuttle::Load::Reports
  NO_ERRORS = Load::Result::ERRORS.to_h { |name| [name, 0] }.freeze
  SETTINGS = {
    "url" => "http://127.0.0.1:80/x", "schedule" => { "name" => "closed" }, "loop" => "closed", "load" => "closed loop",
    "connections" => 4, "threads" => 1, "duration" => nil, "requests" => nil, "warmup" => 0, "think" => 0,
    "keep_alive" => true, "pipeline" => 1, "timeout" => 10, "slow_read" => nil, "seed" => 1, "mix" => []
  }.freeze
  OPEN = { "loop" => "open", "load" => "1,000/s",
           "schedule" => { "name" => "constant", "pieces" => [[nil, 1000, 1000]], "poisson" => false } }.freeze

  # lost: requests without a response.
  def window(second, latencies, errors: {}, draining: false, lost: 0)
    histogram = latencies.each_with_object(Load::Histogram.new) { |value, sum| sum.record(value) }
    Load::Window.new(from: second * 10**9, to: (second + 1) * 10**9, draining: draining,
                     sent: latencies.length + lost,
                     responses: latencies.length, octets: 100 * latencies.length, errors: NO_ERRORS.merge(errors),
                     latency: Load::Histograms.to_h(histogram))
  end

  # seconds: for each the latencies of its responses, in nanoseconds. drained: those after the sending ended.
  # The errors, and the lost requests, are those of the first second.
  def result(seconds, settings: {}, errors: {}, lag: [], cpu: 0.1, gaps: [], opened: 1, interrupted: false,
             waited: 0, drained: [], lost: 0, full: false, **rest)
    windows = seconds.each_with_index.map do |latencies, second|
      window(second, latencies, **(second.zero? ? { errors: errors, lost: lost } : {}))
    end
    windows << window(seconds.length, drained, draining: true) if drained.any?
    histograms = Load::Result::HISTOGRAMS.to_h { |name| [name, Load::Histogram.new] }
    lag.each { |value| histograms[:lag].record(value) }
    length = seconds.length * 10**9
    Load::Result.new(
      settings: SETTINGS.merge("duration" => seconds.length).merge(settings), environment: {}, started_at: Time.at(0),
      interrupted: interrupted, offered: nil, windows: windows, histograms: histograms,
      **rest,
      threads: [{ cpu: (cpu * length).round, wall: length, waited: waited && (waited * length).round,
                  gaps: gaps, last_response: length, opened: opened,
                  unfinished: 0, late: 0, full: full }]
    )
  end

  # Exponential times of that mean, the same for the same seed.
  def exponential(count, mean, seed)
    random = Random.new(seed)
    Array.new(count) { (-Math.log(1 - random.rand) * mean).round }
  end

  def quiet
    @quiet ||= result(Array.new(8) { |second| exponential(2000, 1_000_000, second) })
  end

  # --- marks ---

  def marks(*arguments, **options)
    result(*arguments, **options).marks.map(&:name)
  end

  def test_a_sound_run_has_no_marks
    assert_empty quiet.marks
    assert_includes Reports::Text.render(quiet), "validity    no warnings"
    assert_includes Reports::Text.render(result([[1]], settings: { "connections" => 1 })), ", 1 connection, 1 thread,"
  end

  def test_few_samples
    assert_equal [:few_samples], marks([[1] * 999])
    assert_equal [], marks([[1] * 1000])
  end

  def test_a_busy_client
    assert_equal [:busy], marks([[1] * 1000], cpu: 0.81)
    assert_equal [], marks([[1] * 1000], cpu: 0.8)
  end

  def test_errors_are_a_warning
    mark = result([[1_000_000] * 1000], errors: { status_5xx: 1000 }, statuses: { 500 => 1000 }).marks.first

    assert_equal :errors, mark.name
    assert_match(/1,000 of 1,000 requests failed \(100%\); their responses are in the rate/, mark.text)
    lost = result([[1_000_000] * 1000], errors: { reset: 1 }, lost: 1).marks.first
    assert_match(/1 of 1,001 requests failed \(0\.0999%\)\z/, lost.text)
  end

  def test_a_generator_without_a_core
    assert_equal [:descheduled], marks([[1_000_000] * 1000], waited: 0.06)
    assert_equal [:descheduled], marks([[1_000_000] * 1000], waited: 0.051), "by time"
    assert_equal [:descheduled], marks([[100_000] * 1000], waited: 0.01), "10 us of 100 us each"
    assert_equal [], marks([[1_000_000] * 1000], waited: 0.04)
    assert_equal [], marks([[1_000_000] * 1000], waited: nil)
  end

  def test_send_lag
    slow = [[100_000_000] * 1000]

    assert_equal [], marks(slow, settings: OPEN, lag: [900_000] * 1000)
    assert_equal %i[lag late], marks(slow, settings: OPEN, lag: [900_000] * 980 + [1_200_000] * 20)
    assert_equal [:late], marks(slow, settings: OPEN, lag: [900_000] * 998 + [1_200_000] * 2)
    assert_equal [:lag], marks([[1_000_000] * 1000], settings: OPEN, lag: [60_000] * 1000)
  end

  # That all were opened once says nothing: a server may have closed them, one after the other.
  def test_marks_name_a_cap_on_connections_where_it_matters
    full = late_result(full: true)

    assert(full.all? { |text| text.include?("all 4 connections were in use") })
    assert(late_result(opened: 400).none? { |text| text.include?("in use") })
    assert_includes late_result(full: true, settings: OPEN.merge("threads" => 2)).first,
                    "all connections of a thread were in use (4 of all threads)"
  end

  def late_result(**options)
    result([[1_000_000] * 1000], settings: OPEN, lag: [5_000_000] * 1000, **options).marks.map(&:text)
  end

  def test_freezes
    gap = [[500_000_000, 1_000_000_000]]

    assert_equal [:frozen], marks([[1_000_000] * 1000] * 2, gaps: gap)
    assert_equal [], marks([[1_000_000] * 1000] * 2, gaps: [[500_000_000, 590_000_000]])
    assert_equal [], marks([[400_000_000] * 1000] * 2, gaps: gap), "as slow as always"
    assert_equal [], marks([[1_000_000] * 1000] * 2, gaps: gap, settings: OPEN)
  end

  # Another thread had responses meanwhile.
  def test_a_gap_of_one_thread_is_no_freeze
    one = { gaps: [[0, 400], [600, 900]], cpu: 0, wall: 1 }
    other = { gaps: [[300, 700]], cpu: 0, wall: 1 }
    both = Load::Result.new(settings: SETTINGS, environment: {}, started_at: Time.at(0), interrupted: false,
                            offered: nil, windows: [], threads: [one, other], histograms: {})

    assert_equal [300 / 1e9, 400 / 1e9], both.longest_gap
  end

  def test_drift
    assert_equal [:drift], marks((1..9).map { |second| [1000] * (1000 + 100 * second) })
    assert_equal [:drift], marks((1..9).map { |second| [1000 + 100 * second] * 1000 })
    assert_equal [], marks((1..9).map { |second| [1000] * (1000 + 5 * second) })
    assert_equal [], marks([[1000] * 1000] * 4 + [[1000] * 2000])
    ramp = { "loop" => "open", "schedule" => { "name" => "ramp", "pieces" => [[9, 1, 9]], "poisson" => false } }
    assert_equal [], marks((1..9).map { |second| [1000] * (1000 + 100 * second) }, settings: ramp)
  end

  def test_interruption
    assert_equal [:interrupted], marks([[1] * 1000], interrupted: true)
  end

  # They were sent in a second and a half, and the run waited for the last response.
  def test_no_more_requests_are_offered_than_there_are
    seconds = [[1] * 1000, [1] * 500, []]
    [{}, { interrupted: true }].each do |options|
      assert_equal 1500, result(seconds, settings: OPEN.merge("requests" => 1500), **options).offered
    end
    assert_equal 3000, result(seconds, settings: OPEN).offered
  end

  # --- percentiles ---

  def test_percentiles_of_too_few_samples_are_left_out
    few = result([[1_000_000] * 999])

    assert_nil few.percentile(99)
    assert_equal 1_000_000, few.percentile(95)
    assert_equal 1_000_000, result([[1_000_000] * 1000]).percentile(99)
    assert_match(/^response +1\.00 ms +1\.00 ms +1\.00 ms +1\.00 ms +n\/a +n\/a +n\/a/, Reports::Text.render(few))
  end

  # --- assertions ---

  def unmet(text, of = quiet)
    Load::Assertions.new(text).failures(of)
  end

  def test_assertions_that_hold
    assert_empty unmet("p99<50ms, errors=0,rate>1000 , max>=1us, errors<1%, timeout = 0, mean<2ms, p50!=0, " \
                       "responses==16000, p100<1s")
  end

  def test_assertions_that_do_not
    assert_equal ["rate>1000000: it is 2,000.0", "errors != 0: it is 0"], unmet("rate>1000000, p99<1h, errors != 0")
    assert_match(/\Ap99<1us: it is 4\.\d\d ms\z/, unmet("p99<1us").first)
    bad = result([[1000] * 1000], errors: { reset: 20 })
    assert_equal ["errors<1%: it is 2.000%", "reset=0: it is 20"],
                 unmet("errors<1%, errors<=2%, reset=0, timeout=0", bad)
  end

  def test_assertions_that_too_few_samples_can_not_decide
    assert_equal ["p99.99<1s: too few samples to decide", "lag.p99<1s: too few samples to decide"],
                 unmet("p99.99<1s, lag.p99<1s")
  end

  def test_wrong_assertions_are_refused
    ["", "p99", "p99<", "p101<1s", "speed>1", "p99<fast", "rate>1x", "errors<x%", "foo.p99<1s",
     "p99<50ms; rate>1"].each do |text|
      assert_raises(Cuttle::UsageError, text) { Load::Assertions.new(text) }
    end
  end

  # --- comparison ---

  def test_a_run_is_like_itself
    other = result(Array.new(8) { |second| exponential(2000, 1_000_000, 100 + second) })
    rows = Load::Changes.new(quiet, other).rows

    assert_equal %w[rate p50 p90 p99 p99.9], rows.map(&:name)
    assert(rows.none?(&:difference?), rows.inspect)
    assert_includes Reports::Changes.render(Load::Changes.new(quiet, other)), "no measurable difference"
  end

  def test_a_difference_is_seen
    slower = result(Array.new(8) { |second| exponential(1500, 1_300_000, 200 + second) })
    rows = Load::Changes.new(quiet, slower).rows.to_h { |row| [row.name, row] }

    assert_in_delta 0.75, rows["rate"].ratio, 0.001
    assert_in_delta 1.3, rows["p50"].ratio, 0.06
    assert rows["p50"].difference?
    assert_operator rows["p50"].low, :<, rows["p50"].ratio
    assert_operator rows["p50"].high, :>, rows["p50"].ratio
    assert_includes Reports::Changes.render(Load::Changes.new(quiet, slower)), "lower by 25%"
  end

  # Two times five seconds say no more than Student's t does; the plain percentile bootstrap promises more.
  def test_few_seconds_have_honest_intervals
    seconds = [800, 900, 1000, 1100, 1200].map { |count| [1_000_000] * count }
    rate = Load::Changes.new(result(seconds), result(seconds.rotate(2))).rows.first
    reach = Load::Statistics::Student.critical(0.05, 8) * Load::Statistics.deviation([8, 9, 10, 11, 12]) / 10 *
            Math.sqrt(2 / 5.0)

    assert_in_delta 1, rate.ratio
    assert_operator rate.low, :<, Math.exp(-reach)
    assert_operator rate.high, :>, Math.exp(reach)
  end

  def test_a_comparison_warns_of_too_few_seconds
    text = Reports::Changes.render(Load::Changes.new(quiet, result([[1_000_000] * 2000] * 3)))

    assert_includes text, "too few seconds to tell"
    refute_includes text, "no measurable"
  end

  def test_a_comparison_names_settings_that_differ
    other = result([[1_000_000] * 2000] * 8, settings: { "connections" => 9 })
    assert_includes Reports::Changes.render(Load::Changes.new(quiet, other)), "the runs differ in connections: 4 and 9"
  end

  # --- layouts ---

  def test_hgrm
    lines = Reports::Hgrm.render(quiet).lines.map(&:split)
    rows = lines.select { |cells| cells.length.between?(3, 4) && cells[0].match?(/\A\d/) }

    assert_equal %w[Value Percentile TotalCount 1/(1-Percentile)], lines.first
    assert_equal ["16000", "1.000000000000"], [rows.last[2], rows.last[1]]
    [0, 1, 2].each do |column|
      assert_equal rows.map { |row| row[column].to_f }, rows.map { |row| row[column].to_f }.sort, column
    end
    assert_includes rows.map { |row| row[1] }, "0.500000000000"
    assert_equal ["Total", "count", "=", "16000]"], lines[-2].last(4)
  end

  def test_csv
    header, *rows = Reports::Csv.render(quiet).lines.map { |line| line.chomp.split(",", -1) }

    assert_equal [header.length] * 8, rows.map(&:length)
    assert_equal %w[0 1 2000], rows.first.values_at(0, 1, 2)
    assert_equal "2000.000", rows.first[header.index("rate")]
    assert_equal "", Reports::Csv.render(result([[]])).lines[1].split(",", -1)[header.index("p99_ms")]
  end

  def test_ab
    text = Reports::Ab.render(quiet)

    assert_match(/^Requests per second:    2000\.00 \[#\/sec\] \(mean\)$/, text)
    assert_match(/^Complete requests: +16000$/, text)
    assert_match(/^Failed requests: +0$/, text)
    assert_match(/^ +99% +4\.\d+$/, text)
    assert_match(/\(Connect: 0, Receive: 3, Length: 2, Exceptions: 0\)/,
                 Reports::Ab.render(result([[1] * 5], errors: { reset: 3, length: 2 })))
  end

  # A redirect is no error, and an expected 404 neither. A 201 that is not expected is an error.
  def test_statuses_in_ab
    others = result([[1] * 50], errors: { status_unexpected: 20 },
                                statuses: { 200 => 9, 201 => 20, 302 => 16, 404 => 5 })

    assert_match(/^Non-2xx responses: +21$/, Reports::Ab.render(others))
    refute_includes Reports::Ab.render(result([[1] * 5], statuses: { 200 => 3, 299 => 2 })), "Non-2xx"
  end

  def test_chart_counts_everything
    shares = Reports::Text.chart(quiet.latency).scan(/([\d.]+)%/).sum { |share,| share.to_f }

    assert_in_delta 100, shares, 0.1
  end

  def test_errors_are_named
    text = Reports::Text.render(result([[1] * 5], errors: { early_close: 3, status_5xx: 1000 }))

    assert_match(/^errors +1,003$/, text)
    assert_match(/^  closed too early +3$/, text)
    assert_match(/^  status 5xx +1,000$/, text)
  end

  def test_good_responses
    bad = result([[1] * 1000] * 2, errors: { status_5xx: 250, status_unexpected: 50, reset: 5 },
                                   statuses: { 200 => 1700, 201 => 50, 500 => 250 })
    text = Reports::Text.render(bad)

    assert_equal [1700, 850.0, 1000.0], [bad.good, bad.good_rate, bad.rate]
    assert_match(%r{^good        850\.0/s: 1,700 of 2,000 responses$}, text)
    assert_match(/^statuses    1,700 × 200, 50 × 201, 250 × 500$/, text)
    assert_equal %w[1000 700], Reports::Csv.render(bad).lines[1].split(",").values_at(3, 4)
    assert_equal ["good_rate>900: it is 850.0"], unmet("good_rate>900, good_rate<900", bad)
    refute_match(/^good/, Reports::Text.render(quiet))
  end

  # 200,000 octets in each of two seconds, and then as many from the drain.
  def test_the_speed_leaves_out_the_drain
    drained = result([[1] * 2000] * 2, drained: [1] * 2000)

    assert_equal [600_000, 200_000.0], [drained.octets, drained.octet_rate]
    assert_match(%r{^received    600 kB, 200 kB/s$}, Reports::Text.render(drained))
  end

  def entry(name, times, errors: {})
    histogram = times.each_with_object(Load::Histogram.new) { |value, sum| sum.record(value) }
    Load::Result::Entry.new(name, times.length, NO_ERRORS.merge(errors), histogram)
  end

  def test_figures_by_name
    entries = [entry("GET /", [1_000_000] * 2000, errors: { status_4xx: 3 }), entry("x" * 50, [5_000_000] * 20)]
    text = Reports::Text.render(result([[1] * 1000], entries: entries))

    assert_match(%r{^GET / +2,000 +3 +1\.00 ms +1\.00 ms +1\.00 ms +1\.00 ms +1\.00 ms +1\.00 ms$}, text)
    assert_match(%r{^x{31}… +20 +0 +5\.00 ms +n/a +n/a +n/a +5\.00 ms +5\.00 ms$}, text)
    assert_equal 1997, entries.first.good
  end

  def test_names_and_good_rates_are_compared
    other = result(Array.new(8) { |second| exponential(2000, 1_000_000, second) }, errors: { status_5xx: 1000 },
                                                                              entries: [entry("GET /", [2000] * 99)])
    one = result(Array.new(8) { |second| exponential(2000, 1_000_000, second) }, entries: [entry("GET /", [1000] * 99)])
    text = Reports::Changes.render(Load::Changes.new(one, other))

    assert_match(/^good rate .* 0\.938 /, text)
    assert_match(%r{^GET / p50 +1\.00 us +2\.00 us +2\.000$}, text)
    refute_match(%r{^GET / p99}, text)
  end

  def test_results_of_before_can_be_read
    hash = JSON.parse(Reports::Json.render(quiet)).except("statuses", "entries")

    assert_equal [{}, [], 16_000], Load::Result.load(hash).then { |it| [it.statuses, it.entries, it.good] }
  end

  # --- the page and the metrics ---

  def busy_result
    result(Array.new(3) { |second| exponential(2000, 1_000_000, second) }, errors: { status_5xx: 20, check: 3 },
           statuses: { 200 => 5980, 500 => 20 }, settings: OPEN, lag: [1000] * 6000,
           entries: [entry("GET /<b>", [1_000_000] * 2000), entry("new\nline \\ \"x\"", [5_000_000] * 20)])
  end

  def test_a_page_of_its_own
    page = Reports::Html.render(busy_result)

    refute_match(/<script|https?:\/\/(?!127\.0\.0\.1)|src=/, page.gsub(/<style>.*?<\/style>/m, ""))
    assert_includes page, "GET /&lt;b&gt;"
    refute_includes page, "<b>"
    assert_includes page, "23 requests failed"
    assert_equal 3, page.scan('<svg viewBox="0 0 360 ').length
    %w[validity over-time percentiles times requests answers settings].each do |anchor|
      assert_includes page, %(<section id="#{anchor}")
      assert_includes page, %(href="##{anchor}")
    end
  end

  def test_a_page_without_much_to_show
    page = Reports::Html.render(result([[]]))

    %w[over-time percentiles times requests].each { |anchor| refute_includes page, %(id="#{anchor}") }
    assert_includes page, "There were no errors."
    assert_match(%r{^response( +n/a){11}$}, Reports::Text.render(result([[]])))
  end

  def test_metrics
    found = Exposition.read(Reports::Prometheus.render(busy_result))
    times = found["cuttle_load_response_time_seconds"]
    names = found["cuttle_load_response_time_by_request_seconds"].samples.keys.map { |_, labels| labels[:request] }.uniq

    assert_equal 6000, found["cuttle_load_requests_sent_total"].value
    assert_equal [5980, 20], %w[200 500].map { |status| found["cuttle_load_responses_total"].value(status: status) }
    assert_equal 3, found["cuttle_load_errors_total"].value(class: "check")
    assert_equal [6000, 6000], [times.count, times.buckets.values.last]
    assert_equal busy_result.latency.sum / 1e9, times.sum
    assert_equal 1, found["cuttle_load_marks"].value(mark: "errors")
    assert_equal ["GET /<b>", "new\nline \\ \"x\""], names
  end

  # Each count is that of the values up to its bound.
  def test_buckets_are_exact
    latency = busy_result.latency
    values = latency.pairs.each_slice(2).flat_map { |index, count| [Load::Histogram.highest(index)] * count }
    Reports::Prometheus::Buckets.new(latency).cumulative.each do |bound, count|
      assert_equal values.count { |value| value <= (bound * 1e9).round(3) }, count, bound
    end
  end

  def test_metrics_of_nothing
    found = Exposition.read(Reports::Prometheus.render(result([[]])))

    assert_equal 0, found["cuttle_load_requests_sent_total"].value
    refute found.key?("cuttle_load_response_time_seconds")
  end

  def test_json_can_be_read_again
    Dir.mktmpdir do |directory|
      path = File.join(directory, "a.json")
      File.write(path, Reports::Json.render(quiet))

      assert_equal quiet.latency.pairs, Reports::Json.read(path).latency.pairs
      File.write(path, "{}")
      assert_includes assert_raises(Cuttle::UsageError) { Reports::Json.read(path) }.message, "#{path}: not a result"
    end
  end

  # --- the panel ---

  def panel(plan, tty:)
    out = StringIO.new
    out.define_singleton_method(:tty?) { tty }
    yield Reports::Panel.new(out, plan)
    out.string
  end

  def test_lines_where_there_is_no_terminal
    plan = Load::Plan.build("http://127.0.0.1/", rate: 2000, duration: 8)
    text = panel(plan, tty: false) do |panel|
      panel.tick(0.5, [1000, 1000, 0, 4, 3])
      quiet.windows.first(2).each { |window| panel.window(window) }
      panel.finish
    end

    assert_equal 2, text.lines.length
    assert_match(
      /\A +1\.0 of 8 s  offered 2,000\/s  achieved 2,000\/s  p50 6\d\d us  p99 4\.\d\d ms  errors 0  in flight 3\n/,
      text
    )
  end

  def test_percentiles_of_few_responses_are_not_shown
    text = panel(Load::Plan.build("http://127.0.0.1/", duration: 8), tty: false) do |panel|
      panel.window(window(0, [1_000_000] * 4))
      panel.window(window(1, [1_000_000] * 999))
    end

    assert_match(/p50 -  p99 -/, text.lines[0])
    assert_match(/p50 1\.00 ms  p99 -/, text.lines[1])
  end

  def test_one_line_that_lives_on_a_terminal
    text = panel(Load::Plan.build("http://127.0.0.1/", duration: 8, warmup: 1), tty: true) do |panel|
      panel.tick(0.5, [0, 0, 0, 0, 0])
      panel.window(quiet.windows.first)
      panel.tick(2.5, [9, 9, 2, 1, 1])
      panel.finish
    end

    refute_includes text, "\n"
    assert_equal ["", "warm-up 0.5 s  -/s  errors 0  in flight 0"], text.split("\r\e[K")[0, 2]
    assert_match(/  1\.5 of 8 s  2,000\/s .*errors 2/, text)
    assert text.end_with?("\r\e[K")
  end
end
