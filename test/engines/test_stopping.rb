# frozen_string_literal: true

require "test_helper"

# Threads that begin to wait at the moment of a stop: each must notice it. If one thread takes a wake-up from another,
# that shows in about one of fifty such starts.
class TestStopping < Minitest::Test
  STARTS = 300

  def setup
    @listeners = Cuttle::Listeners.open(["tcp://127.0.0.1:0"])
    @backend = ENV["CUTTLE_BACKEND"]
  end

  def teardown
    ENV["CUTTLE_BACKEND"] = @backend
    @listeners.close
  end

  Cuttle::Poller.backends.each do |backend|
    define_method("test_every_thread_ends_on_#{backend}") do
      ENV["CUTTLE_BACKEND"] = backend
      STARTS.times { |start| assert stops?(start), "not every thread ended after start #{start}" }
    end
  end

  # Closing the listeners raised what had been sent to the thread that did it, and the poller was never over.
  def test_a_thread_that_is_interrupted_as_it_shuts_down
    %i[raise kill].each do |verb|
      poller = Cuttle::Poller.new(@listeners.sockets.map(&:dup), env: {})
      interrupted(verb, poller)
      other = Thread.new { poller.next }
      assert other.join(10), verb
      assert_nil other.value
    end
  end

  private

  # A thread with a pending interrupt, which takes effect when something blocks, asks a stopped poller.
  def interrupted(verb, poller)
    asked = false
    thread = Thread.handle_interrupt(Object => :never) do
      Thread.new do
        Thread.pass until asked
        Thread.handle_interrupt(Object => :on_blocking) { poller.next }
      rescue Interrupt
        nil
      end
    end
    verb == :kill ? thread.kill : thread.raise(Interrupt)
    poller.stop
    asked = true
    thread.join
  end

  def stops?(start)
    source = Cuttle::Engines::Hybrid.source(@listeners.sockets.map(&:dup), core: Cuttle::Cores::Native, env: {})
    engine = Cuttle::Engines::Hybrid.new(source: source, service: nil, threads: 8..8)
    running = Thread.new { engine.run }
    start.odd? ? Thread.pass : sleep(rand * 0.001)
    engine.stop
    running.join(10)
  end
end
