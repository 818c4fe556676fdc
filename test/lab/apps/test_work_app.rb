# frozen_string_literal: true

require "test_helper"
require "open3"
require "rack"
require "rack/lint"

# Lab::WorkApp does what it is asked to, no less and not much more.
class TestWorkApp < Minitest::Test
  include Serving

  WorkApp = Cuttle::Lab::WorkApp
  FILE = "#{ROOT}/lib/cuttle/lab/apps/work_app.rb"
  IDLE = { cpu_ms: 0, iowait_ms: 0, response_chars: 1 }.freeze

  def test_the_body_is_exactly_as_long_as_asked
    [0, 1, 1000, 20_091, 1_500_000].each do |size|
      status, headers, body = ask("response_chars=#{size}&cpu_ms=0&iowait_ms=0")
      assert_equal [200, size.to_s, size], [status, headers["content-length"], body.join.bytesize]
    end
  end

  def test_the_defaults_are_the_originals
    defaults = WorkApp::Parameters.new
    assert_equal [50, 250, 20_000], [defaults.cpu_ms, defaults.iowait_ms, defaults.response_chars]
    assert_equal ["thread", 0, 1, nil], [defaults.spin, defaults.cv, defaults.slices, defaults.query]
  end

  # By the thread's own clock, while others want the processor and Ruby's lock.
  def test_cpu_time_burned_is_what_was_asked_for
    app = app(cpu_ms: 40)
    burned = Array.new(4) { Thread.new { cpu_time { ask("", app) } } }.map(&:value)
    burned.each { |seconds| assert_includes 0.040..0.080, seconds }
  end

  def test_slices_burn_no_more_in_all
    burned = cpu_time { ask("cpu_ms=30&slices=60") }
    assert_includes 0.030..0.070, burned
  end

  # Each thread counts what it waits as work, so together they compute less than they say.
  def test_a_wall_spin_ends_with_the_clock_on_the_wall
    app = app(cpu_ms: 200, spin: "wall")
    burned = Array.new(4) { Thread.new { cpu_time { ask("", app) } } }.map(&:value)
    assert_operator burned.sum, :<, 0.75
  end

  def test_waits_overlap
    app = app(iowait_ms: 1)
    meanwhile("iowait_ms=60000", app) { ask("", app) }
  end

  def test_a_wait_is_no_shorter_in_slices
    assert_operator elapsed { ask("iowait_ms=60&slices=3") }, :>=, 0.06
  end

  def test_the_serial_section_lets_one_in_at_a_time
    app = app(lock_ms: 60)
    took = elapsed { Array.new(5) { Thread.new { ask("", app) } }.each(&:join) }
    assert_operator took, :>=, 0.3
  end

  def test_two_apps_have_two_locks
    meanwhile("lock_ms=60000", app) { ask("", app(lock_ms: 1)) }
  end

  def test_allocation
    few = Array.new(3) { allocated { ask("") } }.min # the first one is more than itself
    assert_operator allocated { ask("alloc_kb=3000") } - few, :>=, 3000
  end

  def test_one_line_names_a_bad_parameter
    { "cpu_ms=x" => 'cpu_ms: a number from 0 to 60000, not "x"', "cpu_ms=-1" => 'not "-1"', "iowait_ms=" => 'not ""',
      "iowait_ms=1e9" => "iowait_ms", "cv=11" => "0 to 10", "cv=NaN" => "cv", "response_chars=1.5" => "whole number",
      "response_chars=100000001" => "100000000", "slices=0" => "1 to 10000", "pool=0" => "1 to 1000",
      "spin=fast" => "thread or wall", "query=drop" => "sleep or table",
      "cpu=1" => 'no parameter "cpu" (cpu_ms, iowait_ms',
      "upstream=ftp://127.0.0.1/" => "begins with http://", "upstream=x%20y" => "begins with http://",
      "upstream=http://10.0.0.1/" => "on this machine, not 10.0.0.1", "cpu_ms=%zz" => "%zz",
      "cpu_ms=%FF" => "cpu_ms: a number" }.each do |query, line|
      status, headers, body = ask(query)
      assert_equal [400, "text/plain"], [status, headers["content-type"]], query
      assert_includes body.join, line
      assert_equal 1, body.join.lines.size, body.join
    end
  end

  def test_bad_defaults_fail_at_the_start
    error = assert_raises(WorkApp::Invalid) { WorkApp.from_environment("WORK_CPU_MS" => "lots") }
    assert_equal 'cpu_ms: a number from 0 to 60000, not "lots"', error.message
  end

  def test_the_environment_gives_defaults_and_a_request_overrides_them
    app = WorkApp.from_environment("WORK_CPU_MS" => "0", "WORK_IOWAIT_MS" => "0", "WORK_RESPONSE_CHARS" => "7")
    assert_equal %w[7 5], ["", "response_chars=5"].map { |query| ask(query, app)[1]["content-length"] }
  end

  def test_it_is_clean_to_rack
    lint = Rack::MockRequest.new(Rack::Lint.new(app))
    answers = [lint.get("/"), lint.get("/x?response_chars=9"), lint.head("/?response_chars=9"), lint.get("/?cv=x")]
    assert_equal [200, 200, 200, 400], answers.map(&:status)
    assert_equal [1, 9, 0], answers.first(3).map { |answer| answer.body.bytesize }
    assert_equal "9", answers[2].headers["content-length"]
  end

  # Under any server's Ruby: without gems, and with nothing else of ours.
  def test_it_loads_alone
    script = <<~RUBY
      require #{FILE.dump}
      status, _, body = Cuttle::Lab::WorkApp.new.call({ "QUERY_STRING" => "cpu_ms=1&iowait_ms=1&response_chars=3" })
      print [status, body.join, Cuttle.constants, Cuttle::Lab.constants, $LOADED_FEATURES.grep(/rack|openssl/)].inspect
    RUBY
    plain = { "RUBYOPT" => nil, "RUBYLIB" => nil }
    out, status = Open3.capture2e(plain, RbConfig.ruby, "-w", "--disable=gems", "-e", script)
    assert_predicate status, :success?, out
    assert_equal '[200, "aaa", [:Lab], [:WorkApp], []]', out
  end

  def test_it_is_served_under_every_engine
    Serving::ENGINES.each do |engine|
      environment = { "WORK_CPU_MS" => "1", "WORK_IOWAIT_MS" => "2" }
      serving_process("examples/work.ru", "--engine", engine, env: environment) do |server|
        assert_equal 20_000, get(server).body.bytesize, engine
        assert_equal 400, get(server, "/?x=1").status
      end
    end
  end

  def test_mean_and_spread_of_uneven_requests
    random = Random.new(7)
    [0.5, 1.0].each do |cv|
      factors = Array.new(200_000) { WorkApp::Lognormal.draw(cv, random) }
      mean = factors.sum / factors.size
      deviation = Math.sqrt(factors.sum { |factor| (factor - mean)**2 } / (factors.size - 1))
      assert_in_delta 1, mean, 0.01
      assert_in_delta cv, deviation / mean, 0.03 * cv
      assert_in_delta 1 / Math.sqrt(1 + cv**2), factors.sort[factors.size / 2], 0.01 # a lognormal's median
    end
    assert_equal 1, WorkApp::Lognormal.draw(0)
  end

  def test_uneven_requests_differ
    app = app(cpu_ms: 4, cv: 1)
    burned = Array.new(8) { cpu_time { ask("", app) } }
    assert_operator burned.max, :>, burned.min * 1.2
  end

  private

  def app(**defaults)
    WorkApp.new(**IDLE, **defaults)
  end

  # Whether the block's request is answered while one of a minute is under way.
  def meanwhile(query, app)
    waiting = Thread.new { ask(query, app) }
    eventually { waiting.stop? }
    assert_equal 200, yield.first
    assert_predicate waiting, :alive?
  ensure
    waiting.kill.join
  end

  def ask(query, app = app())
    app.call({ "REQUEST_METHOD" => "GET", "QUERY_STRING" => query })
  end

  def cpu_time(&block)
    elapsed(Process::CLOCK_THREAD_CPUTIME_ID, &block)
  end

  def allocated
    before = GC.stat(:total_allocated_objects)
    yield
    GC.stat(:total_allocated_objects) - before
  end
end
