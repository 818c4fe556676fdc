# frozen_string_literal: true

require "io/wait"
require "test_helper"

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

  private

  # What interrupts it.
  def wait_for_nothing(waiting)
    waiting << Fiber.current
    IO.pipe { |input, _output| input.read(1) }
  rescue IOError => error
    error.message
  end
end
