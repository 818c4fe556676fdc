# frozen_string_literal: true

require "test_helper"
require "json"

# GET /ready of a cluster: 200 while no worker that has served is missing, whatever boots meanwhile.
class TestReadiness < Minitest::Test
  include Serving
  include TemporaryDirectory

  # Workers boot while there is a file "go", or none that is called "slow".
  CONFIG = "before_worker_boot { sleep 0.01 until File.exist?('go') || !File.exist?('slow') }"

  def setup
    Dir.mkdir("#{@directory}/config")
    File.write("#{@directory}/config/cuttle.rb", CONFIG)
    write("one")
  end

  def test_a_phased_restart
    assert_ready_all_along("USR1") { |process| process.err.include?("phased restart: done") }
  end

  def test_a_hot_restart
    assert_ready_all_along("USR2") { |process, before| !before.intersect?(process.workers) }
  end

  def test_a_worker_more
    assert_ready_all_along("TTIN") { stats["booted_workers"] == 3 }
  end

  def test_a_worker_less
    serve do |process|
      Process.kill("TTOU", process.pid)
      eventually("its end") { process.workers.length == 1 }
      assert_equal 200, ready
    end
  end

  # Each worker loads the app.
  def test_a_phased_restart_without_preload
    assert_ready_all_along("USR1", "--no-preload") { |process| process.err.include?("phased restart: done") }
  end

  def test_the_start
    touch("slow")
    control = ["--control-url", "unix://#{@directory}/c"]
    serving_process("-w", "2", *control, chdir: @directory, forked: true) do |process|
      eventually("two workers that boot") { process.workers.length == 2 }
      assert_equal 503, ready
      touch("go")
      eventually("readiness") { ready == 200 }
    end
  end

  def test_a_worker_that_died
    serve do |process|
      touch("slow")
      Process.kill("KILL", process.workers.first)
      eventually("its lack") { ready == 503 }
      touch("go")
      eventually("the next one") { ready == 200 }
    end
  end

  # A new worker takes its place only once all of them accept.
  def test_a_worker_that_died_in_a_hot_restart
    serve(forked: false) do |process|
      before = process.workers
      touch("slow")
      write("two")
      Process.kill("USR2", process.pid)
      eventually("the new ones") { process.workers.length == 4 }
      assert_equal 200, ready
      Process.kill("KILL", before.first)
      eventually("its lack") { ready == 503 }
      touch("go")
      eventually("the new ones' turn") { ready == 200 }
    end
  end

  private

  # Before the workers that +signal+ asks for accept, and until the block says that all is done.
  def assert_ready_all_along(signal, *flags)
    serve(*flags, forked: signal != "USR2") do |process|
      before = process.workers
      touch("slow")
      write("two")
      Process.kill(signal, process.pid)
      eventually("a worker that boots") { assert_equal(200, ready) && (process.workers - before).any? }
      touch("go")
      eventually("the end") { assert_equal(200, ready) && yield(process, before) }
      assert_equal 200, ready
    end
  end

  def serve(*flags, forked: true)
    flags = ["-w", "2", "--control-url", "unix://#{@directory}/c", *flags]
    serving_process(*flags, chdir: @directory, forked: forked) do |process|
      eventually("two workers") { ready == 200 && process.workers.length == 2 }
      yield process
    end
  end

  # A connection that a program had accepted when it became the next one ends without an answer.
  def ready = eventually("an answer") { get("unix://#{@directory}/c", "/ready") }.status

  def stats = JSON.parse(get("unix://#{@directory}/c", "/stats").body)

  def write(answer) = File.write("#{@directory}/config.ru", "run ->(_) { [200, {}, [#{answer.inspect}]] }")

  def touch(name) = File.write("#{@directory}/#{name}", "")
end
