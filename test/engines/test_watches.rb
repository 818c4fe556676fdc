# frozen_string_literal: true

require "test_helper"
require "socket"

# Fibers wait for a descriptor. The app closes it without Ruby's knowledge, and another file gets its number before the
# loop's next turn.
class TestWatches < Minitest::Test
  include Eventually

  ASK = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

  HttpCase::CORES.each do |core|
    # The report was taken for one about the newer file: its fiber went on although nothing had come.
    define_method("test_a_late_report_wakes_only_whom_it_is_for_under_the_core_#{core}") do
      with_watches(core) do
        reused(timeout: nil) do |writer|
          report
          assert_equal [[:old, IO::READABLE]], @woken
          writer.write("x")
          report
          assert_equal [:new, IO::READABLE], @woken.last
        end
      end
    end

    # The newer file was no longer watched, so that its fiber waited for ever.
    define_method("test_a_late_report_for_nobody_ends_no_other_wait_under_the_core_#{core}") do
      with_watches(core) do
        reused(timeout: 0) do |writer|
          assert_equal [[:old, false]], @woken
          writer.write("x")
          2.times { report if @woken.length < 2 }
          assert_equal [:new, IO::READABLE], @woken.last
        end
      end
    end

    # A fiber that comes too late learns of it. The one before waited for ever.
    define_method("test_fibers_go_on_if_their_descriptor_can_be_watched_no_longer_under_the_core_#{core}") do
      with_watches(core) do
        closed, other = IO.pipe
        @open << other
        closed.autoclose = false
        wait(:first, closed)
        IO.for_fd(closed.fileno).close
        _, err = capture_io { wait(:second, closed) }
        assert_match(/Bad file descriptor/, err)
        @strands.turn
        report if @woken.empty? # the thread of the core in Ruby may have noticed it first
        assert_equal [[:first, IO::READABLE]], @woken
      end
    end
  end

  private

  # The pure core's thread has begun, and the collector closes no file meanwhile, which would leave a lower number.
  def with_watches(core)
    @woken = []
    @open = [@listener = TCPServer.new("127.0.0.1", 0)]
    @poller = Cuttle::Cores.fetch(core)::Poller.new([@listener], env: {})
    @poller.next(0)
    @strands = Cuttle::Engines::Fibers::Strands.new(@poller)
    @watches = Cuttle::Engines::Fibers::Watches.new(@poller, @strands)
    GC.disable
    yield
  ensure
    GC.enable
    @watches&.close
    @poller&.stop
    @open.each { |io| io.close unless io.closed? }
  end

  def pure? = @poller.instance_variable_defined?(:@watches)

  # The next report of a descriptor.
  def report = @watches.ready(@poller.next(5) || flunk("no report"))

  # Begins a fiber that waits for +io+.
  def wait(name, io, timeout = nil)
    strand = Cuttle::Engines::Fibers::Strand.new(blocking: true) do
      @woken << [name, @watches.wait(io.fileno, IO::READABLE, timeout)]
    end
    @strands.go(strand)
  end

  # One fiber waits for a descriptor. That is closed beneath it, and the poller notices it. Then another fiber waits for
  # a pipe that has the same number; yields the pipe's other end. +timeout+: of the first fiber's wait.
  def reused(timeout:)
    client = Socket.tcp("127.0.0.1", @listener.local_address.ip_port) unless pure?
    old, other = IO.pipe
    old.autoclose = false
    wait(:old, old, timeout)
    IO.for_fd(number = old.fileno).close
    notice(number, client)
    @strands.turn
    newer, writer = IO.pipe
    @open.concat([client, other, newer, writer].compact)
    assert_equal number, newer.fileno
    wait(:new, newer)
    yield writer
  end

  # The poller notices it when a connection gets the number. In the core in Ruby, which thread accepts first is left to
  # chance, and so is which number the connection gets.
  def notice(number, client)
    return @poller.instance_variable_get(:@watches).orphan(number) if pure?

    client.write(ASK)
    connection = @poller.next(5)
    taken = Socket.for_fd(number).tap { |socket| socket.autoclose = false }
    assert_equal client.local_address.ip_port, taken.remote_address.ip_port
    connection.abort
  end
end
