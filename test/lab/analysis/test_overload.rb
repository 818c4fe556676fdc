# frozen_string_literal: true

require "test_helper"
require_relative "../support/synthetic_lab"

# Which configurations are overloaded under an open loop, and what is said of them.
class TestLabOverload < Minitest::Test
  # An open loop whose runs last half a second, with 200 requests. The block gets the name of a configuration and the
  # time at which a request is sent, and returns the time of its response: seconds.
  class Runs < MixedLab
    SECONDS = 0.5
    REQUESTS = 200

    def initialize(names, **options, &response)
      super(names, loops: %w[open], blocks: 4, **options) { 1.0 }
      @response = response
    end

    private

    def run(name, load, block)
      sent = Array.new(REQUESTS) { |number| SECONDS * number / REQUESTS }
      times = sent.map { |at| @response.call(name, at, @random) * (1 + (0.01 * @random.rand)) }
      super.merge("elapsed" => SECONDS, "sent" => REQUESTS, "responses" => REQUESTS,
                  "rate" => sent.zip(times).count { |pair| pair.sum <= SECONDS } / SECONDS, **figures(times))
    end

    def figures(times)
      histogram = Cuttle::Load::Histogram.new
      times.each { |time| histogram.record((time * 1e9).round) }
      { "ms" => { "p95" => histogram.value_at(95) / 1e6 }, "histogram" => Cuttle::Load::Histograms.to_h(histogram) }
    end
  end

  # Milliseconds of a response without a queue, and the share by which requests come faster than they are answered.
  STEADY = { "quick" => [2, 0], "slow" => [200, 0], "almost enough" => [20, 0.1] }.freeze
  GROWING = { "half too many" => [2, 0.5], "half too many, slow" => [100, 0.5], "twice as many" => [20, 1],
              "ten times as many" => [20, 9], "twenty times as many" => [5, 19] }.freeze

  def runs(names = STEADY.keys + GROWING.keys, **options)
    Runs.new(names, **options) do |name, at, _|
      response, growth = STEADY.merge(GROWING).fetch(name.delete_suffix(" again"))
      (response / 1000.0) + (growth * at)
    end
  end

  def test_long_responses_in_short_runs_are_no_overload
    overloaded, others = runs.analysis.table.partition(&:overloaded?)

    assert_equal [GROWING.keys, STEADY.keys],
                 [overloaded, others].map { |rows| rows.map { |row| row.configuration.name } }
  end

  # The mean is a quarter of the run, the deviation half of the mean.
  def test_response_times_that_vary_are_no_overload
    varying = Runs.new(%w[a]) { |_, _, random| 0.11 * Math.exp(0.47 * SyntheticLab.gauss(random)) }

    refute_predicate varying.analysis.table.first, :overloaded?
  end

  # Response times that vary so much look like an overload in an open loop.
  def test_what_served_as_much_in_a_closed_loop_was_not_overloaded
    assert_equal([true, false, true], [nil, 500.0, 300.0].map { |rate| after_closed_loop(rate).overloaded? })
  end

  def test_an_overloaded_configuration_is_compared_with_nothing
    lab = runs(["twice as many", "twice as many again", "quick", "slow"],
               controls: { "twice as many again" => "twice as many" })
    analysis = lab.analysis

    assert_equal %i[best behind overloaded], analysis.ranking(load: "l1").groups.keys
    assert_empty analysis.controls
    assert_match(/\Aquick has 0\.01x the 95th percentile response time of slow /, analysis.verdict.first)
    assert_equal 1, analysis.verdict.grep(/\Aoverloaded at this rate: twice as many; requests came faster/).length
    assert_equal "quick", analysis.recommendation.pick.configuration.name
  end

  def test_the_table_says_it
    lab = runs(["quick", "twice as many"])
    said = Cuttle::Lab::Report.text(lab.results, lab.analysis)

    assert_match(/^overloaded: response times only show how long the runs were\ntwice as many .* overloaded /, said)
    assert_equal [], Cuttle::Lab::Report.json(lab.results, lab.analysis)["comparisons"]
  end

  # The row of an open loop of 400 requests per second, in a lab with a closed loop of that rate, if any.
  def after_closed_loop(rate)
    lab = Runs.new(%w[a]) { |_, _, random| 0.2 * Math.exp(SyntheticLab.gauss(random)) }
    load = lab.header["loads"].first.merge("rate" => 400.0)
    closed = load.merge("id" => "l2", "name" => "20 connections", "loop" => "closed", "rate" => nil)
    runs = lab.runs.map { |run| run.merge("load" => "l2", "rate" => rate) }
    lines = SyntheticLab::Lines.new(lab.header.merge("loads" => [load, closed]), lab.runs + (rate ? runs : []), [])
    Cuttle::Lab::Analysis.new(Cuttle::Lab::Results.new(lines, "synthetic")).row("c1", "l1")
  end

  def test_if_all_are_overloaded_no_response_time_counts
    lab = runs(["half too many", "twice as many"])
    said = Cuttle::Lab::Report.text(lab.results, lab.analysis)

    assert_nil lab.analysis.best(load: "l1")
    assert_includes said, "\nno configuration was measured reliably\noverloaded at this rate: half too many, twice as"
  end
end
