# frozen_string_literal: true

require "test_helper"
require "json"
require "net/http"
require "open3"
require "cuttle/cli/advise"
require_relative "../tuner/support/kept_runs"

# `cuttle advise`: answers from a running server.
class TestAdvise < Minitest::Test
  include Serving
  include KeptRuns
  include TemporaryDirectory

  # It waits, so that its requests have both.
  APP = "run ->(_env) { sleep 0.005; [200, {}, ['x']] }"

  def setup
    @state = "#{@directory}/state"
    File.write("#{@directory}/config.ru", APP)
  end

  def test_the_answer_names_what_runs_and_what_it_can_not_see
    served("-w", "1", "-t", "2:2") do |out, err, status|
      assert_includes [0, 1], status, err
      assert_match(/hybrid -w 1 -t 2/, out)
      assert_match(/requests per second/, err)
      assert_match(/how often each waits is unknown/, out)
    end
  end

  # It loads only what it names. These tests have loaded more.
  def test_the_program
    few_events = File.expand_path("../tuner/support/few_events.rb", __dir__)
    program = [*Serving::ServingProcess.ruby, "-r#{few_events}", "#{ROOT}/exe/cuttle", "advise"]
    server("-w", "0", "-t", "2:2", "--control-url", "auto") do |process|
      loading(process) do
        eventually("an answer") do
          out, err, = Open3.capture3(*program, "-S", @state, "--for", "1s")
          refute_includes err, "uninitialized"
          out.include?("hybrid -t 2 (you have)") || out.include?("Keep hybrid -t 2")
        end
      end
    end
  end

  def test_json
    served("-w", "2", "-t", "1:1", arguments: %w[--json --memory 4G --cores 1]) do |out, _, _|
      advice = JSON.parse(out)
      assert_equal({ "engine" => "hybrid", "workers" => 2, "threads" => 1 }, advice.dig("present", "setting"))
      assert_equal 4e9, advice.dig("limits", "memory").to_f
      assert_nil advice.dig("choice", "connections")
    end
  end

  def test_threads_auto
    served("-w", "1", "-t", "auto", "--max-threads", "7", arguments: %w[--json]) do |out, err, _|
      advice = JSON.parse(out)
      assert_equal({ "engine" => "hybrid", "workers" => 1, "threads" => "auto", "max_threads" => 7 },
                   advice.dig("present", "setting"))
      assert_operator advice.dig("present", "stand_in", "threads"), :<=, 7
      refute_includes err, "-t auto"
    end
  end

  # No database pool is known, so it stops at five threads, which serve less than 250/s.
  def test_a_limit_of_threads_auto_that_is_too_low
    File.write("#{@directory}/config.ru", APP.sub("0.005", "0.02"))
    served("-w", "0", "-t", "auto", arguments: %w[--json --rate 325 --for 3s]) do |out, _, _|
      advice = JSON.parse(out)
      present, choice, capped = %w[present choice capped].map { |name| advice.dig(name, "setting") }
      assert_equal [["auto", 5], capped, "auto"], [present.values_at("threads", "max_threads"), present,
                                                   choice["threads"]]
      assert_operator choice["max_threads"], :>, 5
    end
  end

  def test_an_engine_that_the_server_does_not_have
    server("--control-url", "auto") do
      _out, err, status = advise("-S", @state, "--engine", "threads")
      assert_equal 2, status
      assert_match(/--engine threads: the server's engine is hybrid$/, err)
      refute_includes err, "watching"
    end
  end

  def test_an_engine_that_has_no_cpu_times
    server("--engine", "fibers", "-w", "1", "--control-url", "auto") do
      assert_match(/engine fibers does not count the CPU time of requests: use cuttle tune$/, failure("-S", @state))
    end
  end

  def test_the_server_names_its_engine
    [0, 1].each do |workers|
      served("-w", workers.to_s, "--engine", "threads", "-t", "2:2", arguments: %w[--json]) do |out, _, _|
        assert_equal({ "engine" => "threads", "workers" => workers, "threads" => 2 },
                     JSON.parse(out).dig("present", "setting"))
      end
    end
  end

  def test_an_older_server_does_not_name_its_engine
    older = "Cuttle::Control::Commands.prepend(Module.new { def top = super.except(:engine) })"
    File.write("#{@directory}/config.ru", "#{older}\n#{APP}")
    served("-w", "0", "-t", "2:2") do |out, err, _|
      assert_match(/^hybrid -t 2 \(you have\)/, out)
      assert_match(/doesn't report its engine; hybrid is assumed/, err)
    end
  end

  def test_an_older_server_does_not_say_whether_it_has_threads_auto
    older = "Cuttle::Stats.singleton_class.prepend(Module.new { def of(server) = super.except(:auto_threads) })"
    File.write("#{@directory}/config.ru", "#{older}\n#{APP}")
    served("-w", "1", "-t", "2:2", arguments: %w[--json]) do |out, err, _|
      assert_equal 2, JSON.parse(out).dig("present", "setting", "threads")
      assert_match(/doesn't report -t auto; its limit of threads counts as its number of threads$/, err)
    end
  end

  # How many connections threads hold can't be seen, so each is assumed to hold one.
  def test_limits_of_connections_and_of_waiting_for_a_thread
    served("-w", "1", "-t", "3:3", arguments: %w[--json --db-connections 3 --queue-p99 2s]) do |out, _, _|
      advice = JSON.parse(out)
      assert_equal [3, 2.0], advice["limits"].values_at("connections", "queue_p99")
      assert_equal 3, advice.dig("present", "connections")
      assert_operator advice.dig("choice", "connections"), :<=, 3
    end
  end

  def test_a_server_without_requests_can_not_be_advised
    server("-w", "0", "--control-url", "auto") do
      assert_match(/requests are too few: watch longer/, failure("-S", @state, "--for", "10ms"))
    end
  end

  def test_a_server_without_a_control_listener_says_nothing
    server("-w", "0") do
      assert_match(/needs a control listener/, failure("-S", @state))
    end
    assert_match(/not running/, failure("-S", "#{@directory}/none"))
  end

  # `-t 0` has no limit of threads. As a number for the model it is the one of `cuttle tune`.
  def test_a_thread_for_each_connection
    figures = { running: 4, max_threads: nil }
    advice, = told([top({ 11 => 0 }, **figures), top({ 11 => 200 }, **figures)], "--rate", "20", engine: "threads")
    assert_equal({ "engine" => "threads", "workers" => 1, "threads" => Cuttle::CLI::Tune::Present::MANY },
                 advice.dig("present", "setting"))
  end

  # The CPU time of its boot is not that of requests.
  def test_a_worker_that_has_just_started
    unknown = /the CPU time that the server needs outside the app is unknown/
    [[true, :refute_match], [false, :assert_match]].each do |booted, assertion|
      seconds = 1.0
      stub = ->(_pid) { seconds += 2.0 }
      advice, = Cuttle::Lab::Servers::ProcessTree.stub(:cpu_seconds, stub) do
        told([top({ 11 => 0 }, booted: booted), top({ 11 => 200 })], "--rate", "20")
      end
      send(assertion, unknown, advice["warnings"].join("\n"))
    end
  end

  # Requests of the worker that it replaced, and its own, are not known.
  def test_a_worker_that_was_replaced_lowers_the_rate
    answers = [top({ 11 => 0, 12 => 0 }), top({ 11 => 200, 13 => 200 })]
    advice, = told(answers)
    assert_match(/^1 of 2 workers did not serve all the time,/, advice["warnings"].join("\n"))
    assert_equal [2, 100_000_000], [advice.dig("present", "setting", "workers"), advice.dig("present", "memory")]
    refute_match(/did not serve/, told(answers, "--rate", "20").first["warnings"].join("\n"))
  end

  # None of its requests ends.
  def test_a_worker_that_hangs
    answers = [top({ 11 => 0, 12 => 7 }), top({ 11 => 200, 12 => 7 }, busy_threads: 3)]
    assert_match(/^workers answered nothing, .* \(pid 12\): /, told(answers).first["warnings"].join("\n"))
    idle = [top({ 11 => 0, 12 => 7 }), top({ 11 => 200, 12 => 7 })]
    refute_match(/answered nothing/, told(idle).first["warnings"].join("\n"))
  end

  # Threads take turns in another way up to Ruby 3.2.
  def test_the_server_may_run_on_another_ruby
    answers = [top({ 11 => 0 }), top({ 11 => 200 })]
    answers.last[:stats][:versions] = { ruby: { engine: "ruby", version: "9.8.7" } }
    create, seen = Cuttle::Tuner::Folder.method(:create), nil
    noting = lambda do |options|
      seen = Cuttle::Tuner::Profile.read(options.kept).ruby
      create.call(options)
    end
    Cuttle::Tuner::Folder.stub(:create, noting) { told(answers, "--rate", "20") }
    assert_equal "9.8", seen
  end

  # It may be in the log of a continuous integration.
  def test_the_token_is_not_printed
    answers = [top({ 11 => 0 }), top({ 11 => 200 })]
    [%w[-T s3cret], %w[--control-token=s3cret]].each do |words|
      assert_equal words.map { |word| word.sub("s3cret", "TOKEN") }, told(answers, *words).first["command"].grep(/T/)
    end
  end

  # It may be night.
  def test_the_observed_rate_is_said_to_be_no_other
    answers = [top({ 11 => 0 }), top({ 11 => 200 })]
    observed = "the target rate is the one that was observed: "
    assert_match(/^#{observed}/, told(answers).first["warnings"].join("\n"))
    refute_match(/#{observed}/, told(answers, "--rate", "20").first["warnings"].join("\n"))
  end

  def test_wrong_usage
    [%w[--for soon], %w[--cores x], %w[--db-connections x], %w[--queue-p99 x], %w[app.ru],
     %w[-S x --engine none], %w[-S x --p99 0]].each do |arguments|
      assert_equal 2, advise(*arguments).last, arguments.join(" ")
    end
  end

  private

  # Yields what it answers of a server that has requests meanwhile. On a loaded machine these may be too few at first.
  def served(*flags, arguments: [], &block)
    answer = nil
    server(*flags, "--control-url", "auto") do |process|
      loading(process) do
        eventually("an answer") { !(answer = advise("-S", @state, "--for", "1s", *arguments)).first.empty? }
      end
    end
    block.call(*answer)
  end

  def server(*flags, &block)
    serving_process("-S", @state, *flags, chdir: @directory, forked: true, &block)
  end

  def loading(process)
    done = false
    client = Thread.new do
      Net::HTTP.start("127.0.0.1", process.port) { |http| http.get("/") until done }
    end
    yield
  ensure
    done = true
    client&.join
  end

  # A control listener's answers, one after the other.
  class Told < Cuttle::Control::Client
    def initialize(answers)
      @answers = answers
    end

    def call(_name)
      JSON.generate(@answers.shift)
    end
  end

  # [the advice as parsed JSON, standard error], of a server with these figures.
  def told(answers, *arguments, engine: "hybrid")
    client = Told.new(answers.map { |each| { engine: engine, **each } })
    out, err, = Cuttle::Control::Client.stub(:new, ->(*) { client }) do
      advise("-C", "unix:///none", "--for", "10ms", "--json", *arguments)
    end
    [JSON.parse(out), err]
  end

  # The figures of workers. requests: pid => number so far; each computed for 5 ms and waited for 25.
  def top(requests, booted: true, **figures)
    status = { backlog: 0, running: 3, max_threads: 3, auto_threads: 0, busy_threads: 0, **figures }
    workers = requests.keys.map.with_index do |pid, index|
      { index: index, pid: pid, booted: booted, retiring: false, last_status: status }
    end
    { stats: { worker_status: workers }, memory: requests.transform_values { 50_000_000 },
      ledgers: requests.transform_values { |count| ledger(count) } }
  end

  def ledger(count)
    { app: 0.03, cpu: 0.005, gc: 0.0, gvl: 0.0, wait: 0.025, total: 0.03 }.transform_values do |seconds|
      bound = Cuttle::Ledger::BOUNDS.find { |each| each >= seconds * 1e9 }
      { count: count, sum: (count * seconds * 1e9).round, buckets: count.zero? ? [] : [[bound, count]] }
    end
  end

  def failure(*arguments)
    _out, err, status = advise(*arguments)
    assert_equal 1, status
    err.lines.last
  end

  def advise(*arguments)
    out, err = StringIO.new, StringIO.new
    status = Cuttle::CLI.new(out: out, err: err).run(["advise", *arguments])
    [out.string, err.string, status]
  end
end
