# frozen_string_literal: true

require "io/wait"
require "test_helper"
require "timeout"

# What only the fibers engine has: the app's waiting goes through its scheduler.
class TestFibers < Minitest::Test
  include Serving

  # epoll doesn't take regular files. Ruby waits for one all the same, when the kernel wrote less than it was given.
  def test_a_regular_file_is_always_ready
    app = ->(_env) { [200, {}, [File.open(__FILE__) { |file| file.wait_readable.equal?(file).to_s }]] }
    serving(app, engine: "fibers") { |server| assert_equal "true", get(server).body }
  end

  # Ruby 4.0 asks for it where somebody closes what a fiber waits for, in whatever thread.
  def test_a_fiber_that_waits_can_be_interrupted
    waiting = Thread::Queue.new
    app = lambda do |env|
      scheduler = Fiber.scheduler
      case env["PATH_INFO"]
      when "/wait" then next [200, {}, [wait_for_nothing(waiting)]]
      when "/here" then scheduler.fiber_interrupt(waiting.pop, IOError.new("closed"))
      when "/elsewhere" then Thread.new { scheduler.fiber_interrupt(waiting.pop, IOError.new("closed")) }.join
      end
      [200, {}, ["done"]]
    end
    serving(app, engine: "fibers") do |server|
      %w[/here /elsewhere].each do |path|
        answer = Thread.new { get(server, "/wait").body }
        assert_equal "done", get(server, path).body
        assert_equal "closed", answer.value
      end
      assert_equal "done", get(server).body
    end
  end

  # Fiber-locals are those of a pool, but storage is each request's own (Ruby 3.2).
  def test_a_request_finds_no_storage_of_another
    skip "Ruby #{RUBY_VERSION} has no fiber storage" unless Fiber.respond_to?(:[])
    app = lambda do |_env|
      found = Fiber[:user].inspect
      Fiber[:user] = "somebody"
      [200, {}, [found]]
    end
    serving(app, engine: "fibers") { |server| 3.times { assert_equal "nil", get(server).body } }
  end

  def test_a_fiber_serves_one_request_after_the_other
    app = ->(_env) { [200, {}, [Fiber.current.object_id.to_s]] }
    serving(app, engine: "fibers") { |server| assert_equal 1, Array.new(3) { get(server).body }.uniq.length }
  end

  # An app that keeps the fiber of a request can resume it, or end it, when that request is over.
  def test_a_fiber_that_the_app_kept_takes_no_harm
    kept = nil
    app = lambda do |env|
      case env["PATH_INFO"]
      when "/keep" then kept = Fiber.current
      when "/resume" then Fiber.new { kept.resume }.resume # in another fiber, since +kept+ may be this one
      when "/end" then Fiber.new { kept.raise("ended") }.resume
      end
      [200, {}, ["answered"]]
    rescue FiberError, RuntimeError
      [200, {}, ["refused"]]
    end
    serving(app, engine: "fibers") do |server|
      assert_equal "answered", get(server, "/keep").body
      in_app = Thread.new { get(server, "/nap").body }
      %w[/resume /end /resume /nap].each { |path| assert_match(/answered|refused/, get(server, path).body, path) }
      assert_equal "answered", in_app.value
    end
  end

  # The app gets the error. The thread that had looked the name up printed it as well.
  def test_a_name_that_is_not_found_is_not_reported
    app = lambda do |_env|
      [200, {}, Addrinfo.getaddrinfo("#{"a" * 64}.invalid", 80).map(&:ip_address)]
    rescue SocketError
      [200, {}, ["not found"]]
    end
    _, errors = capture_io do
      serving(app, engine: "fibers") { |server| assert_equal "not found", get(server).body }
    end
    assert_empty errors
  end

  # It blocked the engine's thread, so that nobody was answered.
  def test_select_lets_others_go_on
    skip_without_a_hook_for_select
    IO.pipe do |input, output|
      asking = Thread::Queue.new
      app = lambda do |env|
        next [200, {}, [output.write("x").to_s]] unless env["PATH_INFO"] == "/select"

        asking << true
        [200, {}, [(select([input], nil, [input]) == [[input], [], []]).to_s]]
      end
      serving(app, engine: "fibers") do |server|
        answer = Thread.new { get(server, "/select").body }
        asking.pop
        assert_equal "1", get(server, "/write").body
        assert_equal "true", answer.value
      end
    end
  end

  def test_select_returns_and_raises_what_it_does_elsewhere
    IO.pipe do |input, output|
      output.write("one\ntwo\n")
      buffered = input.dup.tap(&:gets)
      output.write("three\n")
      closed = File.open(__FILE__).tap(&:close)
      selects = [[[input]], [[input], nil, nil, 0], [[input], [], [], 0.01], [nil, nil, nil, 0.01], [[input], [output]],
                 [[buffered], nil, nil, nil], [[closed]], [[input], [closed], nil, 0], [[1]], [nil, nil, nil, -1]]
      outcomes = lambda do |_env = nil|
        [200, {}, [selects.map { |arguments| select(*arguments).inspect rescue $!.class }.join("\n")]]
      end
      serving(outcomes, engine: "fibers") { |server| assert_equal outcomes.call[2].join, get(server).body }
    end
  end

  def test_select_ends_with_a_timeout
    skip_without_a_hook_for_select
    IO.pipe do |input, _output|
      app = lambda do |_env|
        Timeout.timeout(0.01) { select([input]) }
      rescue Timeout::Error
        [200, {}, ["timed out"]]
      end
      serving(app, engine: "fibers") do |server|
        threads = Thread.list.length
        assert_equal "timed out", get(server).body
        eventually("the end of the thread that waited") { Thread.list.length == threads }
      end
    end
  end

  def test_select_in_a_forked_child
    IO.pipe do |input, output|
      app = lambda do |_env|
        child = Process.fork do
          nothing = select([input], nil, nil, 0.01)
          output.write("x")
          exit!(nothing.nil? && select([input]) == [[input], [], []] ? 7 : 1)
        end
        [200, {}, [Process.wait2(child).last.exitstatus.to_s]]
      end
      serving(app, engine: "fibers") { |server| assert_equal "7", get(server).body }
    end
  end

  private

  def skip_without_a_hook_for_select
    skip "Ruby #{RUBY_VERSION} asks no scheduler" if RUBY_VERSION < "3.2"
  end

  def select(...) = IO.select(...)

  # What interrupts it.
  def wait_for_nothing(waiting)
    waiting << Fiber.current
    IO.pipe { |input, _output| input.read(1) }
  rescue IOError => error
    error.message
  end
end
