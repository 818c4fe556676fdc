# frozen_string_literal: true

require "test_helper"
require "json"
require "net/http"
require "tmpdir"
require "cuttle/cli/advise"
require_relative "../tuner/support/kept_runs"

# `cuttle advise`: answers from a running server.
class TestAdvise < Minitest::Test
  include Serving
  include KeptRuns

  # It waits, so that its requests have both.
  APP = "run ->(_env) { sleep 0.001; [200, {}, ['x']] }"

  def setup
    @directory = File.realpath(Dir.mktmpdir("cuttle"))
    @state = "#{@directory}/state"
    File.write("#{@directory}/config.ru", APP)
  end

  def teardown
    FileUtils.remove_entry(@directory)
  end

  def test_the_answer_names_what_runs_and_what_it_can_not_see
    served("-w", "1", "-t", "2:2") do |out, err, status|
      assert_includes [0, 1], status, err
      assert_match(/hybrid -w 1 -t 2/, out)
      assert_match(/requests per second/, err)
      assert_match(/how often each waits is unknown/, out)
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

  # The server does not say that it has them.
  def test_threads_auto
    served("-w", "1", "-t", "auto", "--max-threads", "7", arguments: %w[--threads auto --json]) do |out, err, _|
      advice = JSON.parse(out)
      assert_equal({ "engine" => "hybrid", "workers" => 1, "threads" => "auto", "max_threads" => 7 },
                   advice.dig("present", "setting"))
      assert_operator advice.dig("present", "stand_in", "threads"), :<=, 7
      refute_includes err, "--threads auto"
    end
    served("-w", "1", "-t", "auto") { |_, err, _| assert_match(/if it runs with -t auto, give --threads auto$/, err) }
    served("-w", "1", "-t", "2") { |_, err, _| refute_includes err, "--threads auto" }
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
    serving_process("-S", @state, "-w", "0", "--control-url", "auto", chdir: @directory) do
      assert_match(/requests are too few: watch longer/, failure("-S", @state, "--for", "10ms"))
    end
  end

  def test_a_server_without_a_control_listener_says_nothing
    serving_process("-S", @state, "-w", "0", chdir: @directory) do
      assert_match(/needs a control listener/, failure("-S", @state))
    end
    assert_match(/not running/, failure("-S", "#{@directory}/none"))
  end

  def test_wrong_usage
    [%w[--for soon], %w[--cores x], %w[--db-connections x], %w[--queue-p99 x], %w[app.ru],
     %w[-S x --engine none], %w[-S x --threads 5], %w[-S x --engine threads --threads auto]].each do |arguments|
      assert_equal 2, advise(*arguments).last, arguments.join(" ")
    end
  end

  private

  # Yields what it answers of a server that has requests meanwhile. On a loaded machine these may be too few at first.
  def served(*flags, arguments: [], &block)
    answer = nil
    serving_process("-S", @state, *flags, "--control-url", "auto", chdir: @directory) do |process|
      loading(process) do
        eventually("an answer") { !(answer = advise("-S", @state, "--for", "1s", *arguments)).first.empty? }
      end
    end
    block.call(*answer)
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
