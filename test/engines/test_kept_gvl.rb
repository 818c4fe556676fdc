# frozen_string_literal: true

require "test_helper"
require_relative "../support/kept_gvl"

# A poller in whose process a thread of the app's own keeps the GVL.
class TestKeptGvl < Minitest::Test
  include Eventually
  include KeptGvl

  ASK = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
  TRIALS = 30 # in every fifth, or so, the io thread misses its wake

  def setup
    need_fiddle
    @listener = TCPServer.new("127.0.0.1", 0)
    @turns = Queue.new
    @pipes = [IO.pipe, IO.pipe].flatten
    @kept, @keeps, @connected, @connects = @pipes
    @server = fork { serve }
  end

  def teardown
    [@listener, *@pipes].each { |io| io&.close }
    Process.kill(:KILL, @server) && Process.wait(@server) if @server
  end

  # A thread that looks for work relieves the io thread. Then this thread waits, and may consume the wake that was meant
  # for the io thread. If it then went for the GVL, the io thread was not told. So no thread kept the new deadlines
  # until the next event.
  def test_deadlines_are_kept_after_a_thread_has_looked
    TRIALS.times do
      eventually("a response") { connect { |client| client.write(ASK) && client.read.start_with?("HTTP/1.1 200") } }
      connect do |silent| # waits in the backlog until the thread looks
        @connects.write("x")
        assert silent.wait_readable(20), "a connection without a request was not closed"
      end
      @kept.read(OCTETS.bytesize)
    end
  end

  private

  def connect(&block) = Socket.tcp("127.0.0.1", @listener.local_address.ip_port, &block)

  # In a child.
  def serve
    stay_on_one_cpu
    @poller = Cuttle::Poller.new([@listener], env: {}, app_timeout: 600, header_timeout: 0.03)
    Thread.new { loop { answer } }
    loop { keep_in_turn }
  rescue Exception => error # rubocop:disable Lint/RescueException -- of which exit! would say nothing
    warn error.full_message
  ensure
    exit!
  end

  # Looks for a request again and again, so that it often goes for the GVL. After the response it waits until the io
  # thread has ended the connection, and is on duty.
  def answer
    exchange = nil
    exchange = @poller.next(0.001) until exchange
    let_ruby_threads_go_first
    exchange.respond(200, {}, [""])
    eventually("the end of the connection") { @poller.stats[:connections].zero? }
    @connected.readpartial(1)
    @turns << true
  end

  # With this and the next, a thread that looks for work waits before the io thread has noticed it.
  def stay_on_one_cpu
    cpu = File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\d+)/, 1]
    system("taskset", "-p", "-c", cpu, Process.pid.to_s, out: File::NULL)
  rescue SystemCallError
    nil # not on Linux
  end

  def let_ruby_threads_go_first
    others = Dir.glob("/proc/self/task/*").map { |path| File.basename(path).to_i } - Thread.list.map(&:native_thread_id)
    others.each { |id| Process.setpriority(Process::PRIO_PROCESS, id, 19) }
  end

  # Keeps the GVL when the thread that looks waits.
  def keep_in_turn
    @turns.pop
    Thread.pass while @poller.starved?
    keep_gvl(@keeps)
  end
end
