# frozen_string_literal: true

require "test_helper"

# What hands a server's measures on, at intervals.
class TestReporter < Minitest::Test
  include Eventually

  Reporter = Cuttle::Telemetry::Reporter

  # Counts how often it was asked.
  class FakeProcess
    def initialize = @asked = 0
    def measures = { number: @asked += 1 }
  end

  def test_each_report_has_what_was_so_before
    pairs = Queue.new
    reporting { |now, before| pairs << [before[:number], now[:number]] }
    assert_equal [[1, 2], [2, 3], [3, 4]], Array.new(3) { eventually("a report") { pairs.pop unless pairs.empty? } }
  end

  # What was not sent is sent with the next report.
  def test_an_error_is_reported_once_and_ends_nothing
    tries = 0
    sent = Queue.new
    _, err = capture_io do
      reporting do |now, before|
        raise "broken" if (tries += 1) < 4

        sent << [before[:number], now[:number]]
      end
      assert_equal [1, 5], eventually("a report") { sent.pop unless sent.empty? }
    end
    assert_equal "cuttle: metrics: broken (RuntimeError)\n", err
  end

  def test_a_last_report
    sent = []
    reporter = Reporter.new(3600) { |now, _| sent << now[:number] }
    reporter.finish
    assert_empty sent, "it has not begun"
    @thread = reporter.start(FakeProcess.new)
    reporter.finish
    assert_equal [2], sent
  end

  def test_a_last_report_that_hangs_is_given_up
    never = Queue.new
    reporter = Reporter.new(3600) { never.pop }
    @thread = reporter.start(FakeProcess.new)
    _, err = capture_io { reporter.finish(0.01) }
    assert_equal "cuttle: metrics: the last report was not sent within 0.01 s\n", err
  ensure
    never << nil
  end

  # As a gem that lacks a file.
  def test_a_file_that_is_missing_is_an_error_too
    _, err = capture_io do
      reporter = Reporter.new(3600) { raise LoadError, "no file" }
      @thread = reporter.start(FakeProcess.new)
      reporter.finish
    end
    assert_equal "cuttle: metrics: no file (LoadError)\n", err
  end

  def test_intervals
    ["x", 0, -1, nil].each { |every| assert_raises(Cuttle::UsageError, every.inspect) { Reporter.new(every) } }
  end

  def teardown
    @thread&.kill&.join
  end

  private

  def reporting(&block)
    @thread = Reporter.new(0.001, &block).start(FakeProcess.new)
  end
end
