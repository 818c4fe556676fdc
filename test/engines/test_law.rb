# frozen_string_literal: true

require "test_helper"

# The law of ext/cuttle/followers.h, with Ruby's threads: if a thread that asks a poller is interrupted, killed or out
# of time, another one continues. Each round disturbs threads while requests arrive. Afterwards no thread comes by
# chance, so a request that is not answered then is never answered. CUTTLE_SEED repeats a run's choices, though not the
# turns of its threads.
class TestLaw < Minitest::Test
  SECONDS = 2
  THREADS = 4
  CLIENTS = 3
  BOUND = 20 # seconds for an answer

  # One that is read at once, and one that takes several turns.
  REQUESTS = ["GET / HTTP/1.1\r\nHost: a\r\n\r\n",
              "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n#{"x" * 50_000}"].freeze

  # What another thread raises in one that asks.
  class Interruption < StandardError; end

  # A thread that takes and answers requests. It is interrupted only while it waits: Ruby may also raise when next
  # returns, and then no thread would have the request.
  class Asker
    def initialize(poller, random)
      @poller = poller
      @random = random
      @killed = false
      @thread = Thread.handle_interrupt(Object => :never) { Thread.new { nil until ask == :over } }
    end

    def disturb(random)
      return @thread.raise(Interruption) unless @killed ||= random.rand(3).zero?

      @thread.kill
    end

    def join(seconds) = @thread.join(seconds)
    def kill = @thread.kill.join

    def gone? = @killed

    private

    def ask
      found = false
      Thread.handle_interrupt(Object => :on_blocking) { found = @poller.next(patience) }
      found.nil? ? :over : nil
    rescue Interruption
      Thread.pass
    ensure
      answer(found) if found
    end

    # Most wait for ever: one whose time is over might make up for another's mistake.
    def patience = @random.rand(8).zero? ? @random.rand * 0.003 : nil

    def answer(exchange)
      sleep @random.rand * 0.001 if @random.rand(3).zero?
      exchange.respond(200, {}, ["done"])
    end
  end

  def setup
    @seed = Integer(ENV.fetch("CUTTLE_SEED") { Random.new_seed % 1_000_000 })
    @random = Random.new(@seed)
    @listener = TCPServer.new("127.0.0.1", 0)
    @clients = []
    @rounds = 0
  end

  def teardown
    @poller&.stop
    @askers&.each(&:kill)
    @clients.each(&:close)
    @listener.close unless @listener.closed?
    ENV["CUTTLE_BACKEND"] = @backend
  end

  [[Cuttle::Poller.backends.first, false], *Cuttle::Poller.backends.product([true])].each do |backend, shared|
    define_method("test_every_request_is_answered_on_#{backend}#{"_with_an_io_thread" if shared}") do
      open_poller(backend, shared)
      @askers = Array.new(THREADS) { asker }
      ends = clock + SECONDS
      round while clock < ends
      assert_operator @rounds, :>, 20, context
      assert_over
    end
  end

  private

  def open_poller(backend, shared)
    @backend = ENV["CUTTLE_BACKEND"]
    ENV["CUTTLE_BACKEND"] = backend
    @poller = Cuttle::Poller.new([@listener], env: {}, shared: shared)
  end

  def asker = Asker.new(@poller, Random.new(@random.rand(1 << 30)))

  # Requests arrive, and some threads are disturbed just when they are called, or before, or after.
  def round
    @rounds += 1
    @clients << Socket.tcp("127.0.0.1", @listener.local_address.ip_port) if @clients.size < CLIENTS
    asking = @clients.sample(@random.rand(1..@clients.size), random: @random)
    asking.each do |client|
      request = REQUESTS.sample(random: @random)
      assert_equal request.bytesize, client.write_nonblock(request)
      disturb if @random.rand(2).zero?
    end
    asking.each { |client| assert_answered client }
    @clients.shift.close if @random.rand(10).zero?
    @askers.map! { |asker| asker.gone? ? asker() : asker }
    @askers.rotate!
  end

  # With the GVL, which the disturbed thread may be on its way to. One thread a round is spared, so that one is left.
  def disturb
    spin @random.rand * 0.0003
    @askers.drop(1).sample(@random.rand(1..2), random: @random).each { |asker| asker.disturb(@random) }
    @poller.wake if @random.rand(10).zero?
  end

  def assert_answered(client)
    octets = +""
    until octets.end_with?("done")
      client.wait_readable(BOUND) || flunk("not answered: #{context}")
      octets << client.readpartial(1000)
    end
    assert_equal 1, octets.scan("HTTP/1.1 200").size, context
  end

  def assert_over
    @poller.stop
    @clients.each(&:close)
    @askers.each { |asker| assert asker.join(BOUND), "a thread did not end after stop: #{context}" }
  end

  def context = "seed #{@seed}, round #{@rounds}, #{@poller.stats}"
  def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def spin(seconds)
    ends = clock + seconds
    nil while clock < ends
  end
end
