# frozen_string_literal: true

require "test_helper"
require "socket"

# What a server does that does not answer: real processes, and a clock of the tests' own.
class TestSilence < Minitest::Test
  include Eventually

  Servers = Cuttle::Lab::Servers

  # Listens, accepts unless it is +loading+, and then waits or computes.
  PROGRAM = <<~RUBY
    require "socket"
    $stdout.sync = true
    habits = ARGV
    server = TCPServer.new("127.0.0.1", 0)
    puts server.addr[1]
    socket = server.accept unless habits.include?("loading")
    habits.include?("computing") ? loop {} : sleep
  RUBY

  def test_an_app_that_waits_hangs
    assert_equal [nil, nil, "is idle"], faults
  end

  def test_an_app_that_computes_hangs
    assert_equal [nil, nil, "still computes"], faults("computing")
  end

  # However long it takes.
  def test_a_server_that_loads_does_not_hang
    assert_equal [nil, nil, nil], faults("loading", "computing")
  end

  # A silence begins with the first request that is not answered.
  def test_an_answer_ends_the_silence
    watch do |silence|
      2.times { silence.observe { unanswered } }
      assert_equal 503, silence.observe { 503 }
      assert_nil silence.fault
      2.times { silence.observe { unanswered } }
      assert_nil silence.fault
      silence.observe { unanswered }
      assert_equal "is idle", silence.fault
    end
  end

  private

  # The fault after each of three requests that are not answered within 7 s. The silence reaches its limit at the third.
  def faults(*habits)
    watch(*habits) do |silence|
      Array.new(3) do
        silence.observe { unanswered(computes: habits.include?("computing")) }
        silence.fault
      end
    end
  end

  # Yields a Silence of a server with these habits, to which a client is connected.
  def watch(*habits)
    @now = 0
    program = IO.popen([RbConfig.ruby, "--disable-gems", "-e", PROGRAM, *habits], pgroup: true)
    port = Integer(program.gets)
    @tree = Servers::ProcessTree.new(program.pid, orphans: false)
    client = TCPSocket.new("127.0.0.1", port)
    eventually("its accept") { Servers::ProcessTree.accepted(port).any? } unless habits.include?("loading")
    Cuttle.stub(:now, -> { @now }) { yield Servers::Silence.new(@tree, port) }
  ensure
    client&.close
    Process.kill("KILL", program.pid)
    program.close
  end

  # Seven seconds, in which the server computes for slightly longer than one that is idle may, or not at all.
  def unanswered(computes: false)
    before = @tree.cpu_seconds
    eventually("its CPU time") { @tree.cpu_seconds > before + (7 * Servers::Silence::IDLE) + 0.02 } if computes
    @now += 7
    :silent
  end
end
