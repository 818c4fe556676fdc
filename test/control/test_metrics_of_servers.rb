# frozen_string_literal: true

require "test_helper"
require_relative "../support/exposition"

# GET /metrics of servers that serve: alone and with workers that come and go.
class TestMetricsOfServers < Minitest::Test
  include Serving
  include TemporaryDirectory

  APP = "run ->(env) { env['PATH_INFO'] == '/die' ? Process.kill('KILL', Process.pid) : [200, {}, [Process.pid.to_s]] }"

  def setup
    File.write("#{@directory}/config.ru", APP)
  end

  ENGINES.each do |engine|
    define_method("test_alone_under_#{engine}") do
      serve("-w", "0", "--engine", engine) do |process|
        3.times { get(process) }
        families = eventually("the end of the last one") do # its client may have the answer before
          metrics.then { |all| all if all["cuttle_threads_busy"].value.zero? }
        end
        assert_equal 3, families["cuttle_requests_total"].value
        assert_equal 1, families["cuttle_ready"].value
        refute families.key?("cuttle_workers")
        eventually("the ledger") { metrics["cuttle_request_duration_seconds"]&.count == 3 } if native?
      end
    end
  end

  def test_with_the_core_in_ruby
    [0, 1].each do |workers|
      serve("-w", workers.to_s, "--core", "pure") do |process|
        2.times { get(process) }
        eventually("the requests") { metrics["cuttle_requests_total"].value == 2 }
        assert_equal [0], metrics["cuttle_threads_auto"].samples.values
      end
    end
  end

  # As the worker told its supervisor.
  def test_threads_auto
    { "auto" => 1, "2" => 0 }.each do |threads, expected|
      serve("-w", "1", "-t", threads) do
        eventually("its figures") { metrics.key?("cuttle_threads_auto") }
        assert_equal expected, metrics["cuttle_threads_auto"].value(worker: "0")
      end
    end
  end

  def test_counters_never_go_backwards
    serve("-w", "2") do |process|
      @last = {}
      made = ask(process, 10)
      eventually("all requests") { requests == made }
      %w[USR1 TTIN TTOU].each do |signal|
        change(process, signal)
        made += ask(process, 10)
        eventually("all requests after #{signal}") { requests == made }
      end
      assert_operator @families["cuttle_workers_started_total"].value, :>=, 5
      assert_equal 0, @families["cuttle_workers_died_total"].value
      die(process)
      eventually("the death") { requests && @families["cuttle_workers_died_total"].value == 1 }
    end
  end

  # At its end, a worker reports what it has served since its last report.
  def test_nothing_is_lost_when_workers_are_replaced
    serve("-w", "2") do |process|
      made = ask(process, 20)
      change(process, "USR1")
      eventually("all requests") { requests == made }
    end
  end

  def test_each_process_has_memory
    skip "no smaps_rollup here" unless File.exist?("/proc/self/smaps_rollup")

    serve("-w", "2") do
      expected = [{ process: "mould" }, { process: "supervisor" }, { process: "worker", worker: "0" },
                  { process: "worker", worker: "1" }]
      eventually("the memory of each") do
        metrics["cuttle_memory_bytes"].labels.sort_by(&:to_s) == expected.sort_by(&:to_s)
      end
      assert_operator metrics["cuttle_memory_bytes"].value(process: "worker", worker: "0"), :>, 1 << 20
    end
  end

  def test_a_token_is_needed
    serve("-w", "0", "--control-token", "secret") do
      assert_equal 403, get(control, "/metrics").status
      answer = get(control, "/metrics", "Authorization" => "Bearer secret")
      assert_equal [200, "text/plain; version=0.0.4; charset=utf-8"], [answer.status, answer["content-type"]]
      Exposition.read(answer.body)
    end
  end

  private

  def native? = Cuttle::Cores.default == "native"

  def serve(*args, &block)
    serving_process(*args, "--control-url", "unix://#{@directory}/c", chdir: @directory, forked: true, &block)
  end

  def control = "unix://#{@directory}/c"

  def metrics
    Exposition.read(get(control, "/metrics").body)
  end

  # Counts what is asked.
  def ask(process, times)
    times.times { get(process) }
    times
  end

  # The server's requests. Notes each counter, and that none has fallen.
  def requests
    @families = metrics
    @last ||= {}
    @families.each_value do |family|
      next if family.type == "gauge"

      family.samples.each do |key, value|
        assert_operator value, :>=, @last.fetch(key, 0), key.inspect
        @last[key] = value
      end
    end
    @families["cuttle_requests_total"].value
  end

  # Sends a signal, and waits until what it does is done.
  def change(process, signal)
    requests
    before = @families["cuttle_workers_started_total"].value
    count = @families["cuttle_workers"].value
    Process.kill(signal, process.pid)
    eventually("the effect of #{signal}") do
      requests
      done?(signal, @families["cuttle_workers_started_total"].value - before, count)
    end
  end

  def done?(signal, started, count)
    workers, ready, old = %w[cuttle_workers cuttle_workers_ready cuttle_workers_old].map { |n| @families[n].value }
    { "USR1" => started == count && workers == count, "TTIN" => started == 1 && ready == count + 1,
      "TTOU" => workers == count - 1 }.fetch(signal) && old.zero?
  end

  def die(process)
    get(process, "/die")
  rescue SystemCallError, EOFError
    nil
  end
end
