# frozen_string_literal: true

require "fileutils"
require_relative "studied_lab"

# Studies of one's own, in a directory of their own beside the published numbers, with results that were made up.
module StudiesCase
  include TemporaryDirectory

  Studies = Cuttle::Studies

  QUESTIONS = <<~RUBY
    title "How many threads"
    question "How many threads should one have?"
    design "One to eight threads, one to forty connections."
    [1, 8].each do |threads|
      [1, 10, 20, 40].each do |connections|
        trial "q1", threads: threads, connections: connections do
          serve engine: "hybrid", threads: threads
          ask work(cpu_ms: 5, iowait_ms: 20), connections: connections, requests: 300
        end
      end
    end
    trial "q1.1", server: "puma" do
      serve engine: "hybrid", threads: 8, like: "puma", original: "puma"
      ask work(cpu_ms: 5, iowait_ms: 20), connections: 8, requests: 300
    end
    expect "q1.1", "more threads serve more", "8 threads by 1" =>
           [rate("q1", threads: 8, connections: 40), rate("q1", threads: 1, connections: 40), 2..],
           "with the same tail" => [p99("q1", threads: 8, connections: 40), p99("q1", threads: 1, connections: 40),
                                    0.9..1.1]
    expect "q1.2", "on Puma as well", "8 threads by 1 of ours" =>
           [rate("q1.1", server: "puma"), rate("q1", threads: 1, connections: 40), 2..]
  RUBY

  def setup
    super
    @root = "#{@directory}/studies"
    FileUtils.mkdir_p(["#{@root}/q1-threads", "#{@directory}/docs"])
    %w[published apps].each { |name| FileUtils.ln_s("#{Studies::ROOT}/#{name}", @root) }
    %w[s0-ab s0-sweeps].each { |name| copy(name) }
    File.write("#{@root}/q1-threads/study.rb", QUESTIONS)
  end

  # Declarations alone, whatever is kept of them.
  def copy(name)
    files = Dir.children("#{Studies::ROOT}/#{name}").grep_v(/\A(README\.md|results\.jsonl|ruby-.*)\z/)
    FileUtils.mkdir_p("#{@root}/#{name}")
    files.each { |file| FileUtils.cp_r("#{Studies::ROOT}/#{name}/#{file}", "#{@root}/#{name}/#{file}") }
  end

  def study(name)
    Studies.find(name, @root)
  end

  # A lab of that study in which servers serve as many as they have threads and processes, slightly fewer in each block.
  def lab(name, scale: 1, **options, &value)
    value ||= method(:served)
    StudiedLab.new(study(name), scale: scale, **options, &value)
  end

  def served(configuration, load, block)
    slots = [[configuration["threads"], 1].max * [configuration["workers"], 1].max, load["connections"]].min
    rate = 3.0 * slots * (1 - (0.01 * block))
    time = 1000.0 * load["connections"] / rate
    [rate, { "min" => time / 2, "mean" => time, "p50" => time, "p90" => 1.2 * time + block, "p95" => 1.3 * time,
             "p99" => 1.5 * time + block, "p99.9" => nil, "max" => 2 * time }]
  end

  # As a lab writes a run of that many responses: complete, and with few percentiles.
  def in_full(configuration, load, block, count: 500)
    rate, times = served(configuration, load, block)
    histogram = Cuttle::Load::Histogram.new
    random = Random.new((load["connections"] * 10) + block)
    count.times { histogram.record((times["mean"] * 1e6 * (0.8 + (random.rand**4))).round) }
    few = times.merge([50, 90, 99].to_h { |each| ["p#{each}", percentile(histogram, each)] })
    [rate, few, { "windows" => windows, "proof" => [proof] * 5, "marks" => [{ "name" => "few", "text" => "too few" }],
                  "histogram" => Cuttle::Load::Histograms.to_h(histogram), "order" => 1, "at" => "2026-11-21T10:00:00Z",
                  "server" => { "cpu_us" => 5123.456789, "pss" => [1, 2], "pss_total" => 3, "cpu_share" => 0.5,
                                "switches" => 1.5 },
                  "errors" => { "connect" => 0, "timeout" => block } }]
  end

  def percentile(histogram, percentile)
    histogram.value_at(percentile) / 1e6 if histogram.count * (100 - percentile) / 100.0 >= 10
  end

  def windows
    Array.new(5) do |second|
      { "from" => second.to_f, "to" => second + 1.0, "rate" => 10.0, "p50_ms" => 5.0, "p99_ms" => nil, "errors" => 0 }
    end
  end

  def proof
    { "setting" => "workers", "wanted" => 1, "found" => 1, "proved" => true,
      "how" => "children of the leader in /proc" }
  end

  # Findings of the studies, kept.
  def keep(*names, **options, &value)
    names.each do |name|
      Studies::Archive.take(lab(name, **options, &value).write("#{@directory}/results/#{name}/1"), @root)
    end
    Studies::Archive.all(@root)
  end
end
