# frozen_string_literal: true

require "test_helper"
require "json"

# Profiles that are really measured, of apps whose work is known. What is asserted holds on a busy machine as well.
class TestProfiler < Minitest::Test
  include TemporaryDirectory

  Tuner = Cuttle::Tuner

  class << self
    attr_accessor :login
  end

  def setup
    @out = StringIO.new
  end

  WORK = { cpu_ms: 2, iowait_ms: 30, slices: 3, response_chars: 10, cv: 0.3 }.freeze

  # One short profile with everything in it.
  def test_known_work_is_found
    profile = profile_of("work", profile: WORK, engines: %w[hybrid fibers], budget: 300)
    entry = profile.entries.first
    assert_equal ["GET /", 1], [entry.name, profile.entries.length]
    assert_in_delta 2, entry.mean_cpu * 1000, 0.6
    assert_operator entry.mean_wait * 1000, :>, 25
    assert_in_delta 3, entry.waits, 0.5
    assert_operator entry.cpu.last, :>, entry.cpu.first * 2
    assert_equal entry.cpu.sort, entry.cpu
    costs_of(profile)
  end

  # The times of the slow ones vary by much more than what a busy machine adds to each, so that they are seen to grow
  # together.
  def test_kinds_of_requests_have_profiles_of_their_own
    mix = file("mix.jsonl", <<~MIX)
      {"path": "/?cpu_ms=0.2&iowait_ms=0", "weight": 3}
      {"path": "/?cpu_ms=2&iowait_ms=40&slices=1&cv=0.8"}
    MIX
    profile = profile_of("work", mix: mix, engines: %w[hybrid], budget: 40)
    assert_equal [3.0, 1.0], profile.entries.map(&:weight)
    quick, slow = profile.entries
    assert_operator slow.mean_wait, :>, quick.mean_wait + 0.003
    assert_in_delta 1, slow.waits - quick.waits, 0.3
    assert_operator slow.correlation, :>, 0.5
  end

  def test_a_written_profile_is_read_again
    profile, = profile_of_login
    read = Tuner::Profile.read(profile.write("#{@directory}/profile.json"))
    assert_equal profile.entries, read.entries
    assert_equal profile.to_h, read.to_h
  end

  def test_an_app_that_does_not_boot_is_named
    error = assert_raises(Cuttle::Lab::Failure) { profile_of(file("broken.ru", "raise 'no database'")) }
    assert_match(/no database/, error.message)
  end

  def test_an_app_that_fails_is_named_with_path_and_status
    app = file("failing.ru", 'run ->(env) { [env["PATH_INFO"] == "/bad" ? 500 : 200, {}, ["hello"]] }')
    error = assert_raises(Tuner::Failure) { profile_of(app, mix: mix_of("/", "/bad")) }
    assert_match(%r{\AGET /bad answered 500: }, error.message)
    assert_equal 1, error.message.lines.length
  end

  # Its thread has a scheduler only under fibers. The first answers are right, because a server that starts with errors
  # gets much time.
  def test_an_engine_that_fails_is_not_considered
    app = file("picky.ru", <<~RUBY)
      asked = 0
      run lambda { |_env|
        sleep(0.01)
        [Fiber.scheduler && (asked += 1) > 9 ? 500 : 200, {}, ["hello"]]
      }
    RUBY
    profile = profile_of(app, engines: %w[hybrid fibers], budget: 300)
    assert_equal %w[fibers], profile.unfit.keys
    assert_match(/\Awrong answers: status_5xx \d+ of/, profile.unfit["fibers"])
    assert_equal %w[hybrid], Tuner::Grid.new(profile, engines: %w[hybrid fibers], cores: 1).engines
  end

  def test_a_request_of_the_mix_that_fails_is_named
    error = assert_raises(Tuner::Failure) { profile_of(app("404"), mix: mix_of("/gone?x=1")) }
    assert_match(%r{\AGET /gone\?x=1 answered 404: remove it from the mix}, error.message)
  end

  def test_an_app_that_wants_a_login_is_warned_of
    profile, said = profile_of_login
    assert_match(%r{every request is redirected \(to /login\)}, profile.notes.join)
    assert_match(/login/, said)
  end

  # As Rails does in production.
  def test_an_app_that_answers_over_https_only_is_named
    app = file("secure.ru", <<~RUBY)
      run lambda { |env|
        secure = env["HTTP_X_FORWARDED_PROTO"] == "https"
        [secure ? 204 : 301, secure ? {} : { "location" => "https://example.org/" }, []]
      }
    RUBY
    error = assert_raises(Tuner::Failure) { profile_of(app) }
    assert_match(%r{redirected to https \(https://example\.org/\): .* -H 'X-Forwarded-Proto: https'\z}, error.message)
    mix = file("mix.jsonl", JSON.generate("path" => "/", "headers" => { "X-Forwarded-Proto" => "https" }))
    assert_equal 1, profile_of(app, mix: mix, engines: %w[hybrid], budget: 20).entries.length
  end

  def test_a_budget_that_is_too_short_fails
    app = file("slow.ru", 'run ->(_env) { sleep(0.2); [200, {}, ["hello"]] }')
    error = assert_raises(Tuner::Failure) { profile_of(app, budget: 4) }
    assert_match(/\A\d requests in \d\.\d s are too few for a profile, .*: increase --budget\z/, error.message)
  end

  # Each of them alone took longer than the profile may: "0 requests in 4 s are too few for a profile".
  def test_a_slow_boot_and_slow_first_answers_take_nothing_of_the_budget
    app = file("late.ru", <<~RUBY)
      once = lambda do |name, seconds|
        sleep(seconds) unless File.exist?(name)
        File.write(name, "")
      end
      once.call("booted", #{10 * Tuner::Profiler::SHARE})
      run lambda { |env|
        once.call("answered\#{env["PATH_INFO"].tr("/", "-")}", #{5 * Tuner::Profiler::SHARE})
        [200, {}, ["hello"]]
      }
    RUBY
    profile = profile_of(app, mix: mix_of("/a", "/b"), engines: %w[hybrid], budget: 10)
    assert_operator profile.entries.first.samples, :>=, Tuner::Profiler::Sequence::FEWEST
  end

  # What was measured by then is a profile.
  def test_an_interrupted_profile_is_what_was_measured
    profiler = profiler_of(app("200"), budget: 100)
    interrupt = Thread.new do
      sleep 0.01 until @out.string.include?("one after the other")
      Process.kill("INT", Process.pid)
    end
    profile = profiler.run
    assert_predicate profiler, :interrupted?
    assert_operator profile.mean_cpu, :>, 0
    assert_nil profile.scaling
  ensure
    interrupt&.kill
  end

  def test_an_interrupt_before_anything_is_known_is_an_interrupt
    app = file("slow.ru", 'run ->(_env) { sleep(0.5); File.write("asked", ""); [200, {}, ["hello"]] }')
    interrupt = Thread.new do
      sleep 0.01 until File.exist?("#{@directory}/asked")
      Process.kill("INT", Process.pid)
    end
    assert_raises(Interrupt) { profile_of(app, budget: 150) }
  ensure
    interrupt&.kill
  end

  # Each request of the mix is sent once before anything else, and some mixes have hundreds.
  def test_an_interrupt_ends_the_check_of_the_answers
    asked = []
    client = Object.new
    client.define_singleton_method(:call) do |request|
      asked << request.path
      Tuner::Profiler::Client::Response.new(200, "")
    end
    requests = %w[/a /b /c].map { |path| Cuttle::Load::Request.new(path: path) }
    check = Tuner::Profiler::Answers.new(Struct.new(:client).new(client), Tuner::Mix.shapes(requests),
                                         stop: -> { asked.length == 2 }, warn: method(:flunk))
    assert_raises(Interrupt) { check.check }
    assert_equal %w[/a /b], asked
  end

  private

  # Measured once for all tests in a process: the profile, and what was printed.
  def profile_of_login
    self.class.login ||= begin
      app = file("login.ru", 'run ->(_env) { sleep(0.01); [302, { "location" => "/login" }, []] }')
      [profile_of(app, engines: %w[hybrid], budget: 40), @out.string]
    end
  end

  def costs_of(profile)
    assert_equal %w[fibers hybrid], profile.overheads.keys.sort, @out.string
    profile.overheads.each_value { |seconds| assert_includes 1e-6..0.002, seconds }
    assert_includes 0.0..0.001, profile.contention
    assert_equal [1, 1.0], profile.scaling.first
    assert_equal %w[alone base thread worker], profile.memory.keys.sort
    assert_operator profile.memory["worker"], :>, 1_000_000
    assert_operator profile.memory["alone"], :>, 10_000_000
    assert_operator profile.boot, :>, 0
    assert_nil profile.connections
    assert_equal "work", profile.app["name"]
  end

  def profiler_of(app, budget: 60, **options)
    options = Cuttle::Lab::Options.new(app: app, keep_alive: [true], seed: 1, concurrency: [1], **options)
    Tuner::Profiler.new(options, budget: budget, out: @out)
  end

  def profile_of(app, **options)
    profiler_of(app, **options).run
  end

  # It waits, so that loads leave the processor to other tests.
  def app(status)
    file("app.ru", "run ->(_env) { sleep(0.01); [#{status}, { \"content-type\" => \"text/plain\" }, [\"hello\"]] }")
  end

  def mix_of(*paths)
    file("mix.jsonl", paths.map { |path| JSON.generate("path" => path) }.join("\n"))
  end

  def file(name, text)
    File.join(@directory, name).tap { |path| File.write(path, text) }
  end
end
