# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/support/bench"

# The slow clients (benchmark/slow/slow.c), against a listener that looks at what they do.
class TestBenchmarkSlowClients < Minitest::Test
  include Eventually

  def setup
    skip "gcc is not installed" unless Bench::Lab::Machine.program("gcc")
    @listener = TCPServer.new("127.0.0.1", 0)
    @accepted = []
  end

  def teardown
    @slow&.close
    [@listener, *@accepted].compact.each(&:close)
  end

  def test_a_head_comes_octet_by_octet_and_never_ends
    start("heads:3")
    first = @accepted.first
    text = +""
    eventually("three more octets") { text << first.readpartial(1000) and text.end_with?("X-Slow: aaa") }
    assert text.start_with?("GET / HTTP/1.1\r\nHost: slow\r\nX-Slow: ")
    assert_equal({ slow_held: 3, slow_closed: 0 }, @slow.figures)
  end

  def test_a_body_is_announced_and_dripped
    start("bodies:1")
    text = +""
    eventually("an octet of the body") { text << @accepted.first.readpartial(1000) and text.end_with?("\r\n\r\naa") }
    assert_match(/^Content-Length: 1000000\r$/, text)
  end

  def test_a_reader_takes_little_and_a_stuck_client_nothing
    start("readers:1:/here", "stuck:1:/there")
    paths = @accepted.map { |socket| [socket, socket.readpartial(1000)[%r{\AGET (/\w+) HTTP/1.1\r\n}, 1]] }.to_h.invert
    assert_equal %w[/here /there], paths.keys.sort
    sent = paths.transform_values { |socket| fill(socket) }
    assert_operator sent["/there"], :<, 1_000_000, "the kernel takes a whole response for a client that reads nothing"
    eventually("octets that were read") { @slow.counts[:readers][:octets] > 1000 }
    assert_equal 0, @slow.counts[:stuck][:octets]
  end

  def test_clients_without_turns_let_the_program_sleep
    start("stuck:2:/")
    switches = -> { File.read("/proc/#{@slow.pid}/status")[/^voluntary_ctxt_switches:\s+(\d+)/, 1] }
    eventually("a sleep longer than many turns", every: 0) { switches.call == (sleep(0.2) && switches.call) }
    @accepted.shift.close
    eventually("the client's return") { @listener.wait_readable(0) }
    assert_equal 1, @slow.figures[:slow_closed]
  end

  def test_a_socket_subscribes_and_reads
    starting = Thread.new { start("sockets:1:/cable") }
    eventually("a connection") { @listener.wait_readable(0) }
    @accepted << (socket = @listener.accept)
    assert_match(%r{\AGET /cable HTTP/1.1\r\n.*^Upgrade: websocket\r\n}m, socket.readpartial(1000))
    socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x12{\"type\":\"welcome\"}")
    frame = socket.readpartial(1000)
    assert_equal [0x81, 0x80 | (frame.bytesize - 6), 0], frame.unpack("CCN")
    assert_equal({ "command" => "subscribe", "identifier" => '{"channel":"NewsChannel"}' },
                 JSON.parse(frame.byteslice(6..)))
    socket.write("confirm_subscription")
    starting.join
    assert_equal({ slow_held: 1, slow_closed: 0 }, @slow.figures)
  end

  def test_a_socket_that_is_refused_is_no_client
    starting = Thread.new { start("sockets:1:/cable") }
    starting.report_on_exception = false
    eventually("a connection") { @listener.wait_readable(0) }
    @accepted << (socket = @listener.accept)
    socket.write("HTTP/1.1 404 Not Found\r\n\r\n")
    eventually("the end of the connection") { socket.readpartial(1000) && socket.wait_readable(1) && socket.eof? }
    assert starting.alive?, "it counts as one"
  ensure
    starting.kill.join
  end

  def test_a_closed_client_connects_again
    start("heads:1")
    @accepted.first.close
    eventually("another connection") { @listener.wait_readable(0) && @accepted << @listener.accept }
    eventually("its count") { @slow.figures == { slow_held: 1, slow_closed: 1 } }
  end

  def test_it_says_what_is_wrong_with_its_arguments
    program = Bench.compile(Bench::SlowClients::SOURCE)
    ["", "1", "1 hands:3", "1 heads:0", "1 heads", "1 --interval 1 heads:1"].each do |arguments|
      _, errors, status = Open3.capture3(program, *arguments.split)
      assert_equal [2, true], [status.exitstatus, errors.start_with?("usage: slow")], arguments
    end
  end

  private

  # They wait for no answer, so they are ready once they are connected.
  def start(*kinds)
    @slow = Bench::SlowClients.new(*kinds)
    @slow.open(@listener.addr[1])
    @accepted << @listener.accept while @accepted.size < @slow.count
  end

  # Octets that went out before the connection took no more.
  def fill(socket)
    sent = 0
    while (wrote = socket.write_nonblock("x" * 10_000, exception: false)) != :wait_writable || socket.wait_writable(0.1)
      sent += wrote if wrote.is_a?(Integer)
      break if sent > 5_000_000
    end
    sent
  end
end
