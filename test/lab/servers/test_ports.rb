# frozen_string_literal: true

require "test_helper"

# Ports for servers that are yet to start.
class TestLabPorts < Minitest::Test
  Ports = Cuttle::Lab::Servers::Ports

  def test_two_processes_never_have_the_same_one
    readers = Array.new(3) do
      IO.pipe.tap do |reader, writer|
        fork do
          reader.close
          writer.puts Array.new(10) { Ports.free }
          writer.close
          sleep # another process may only have them when this one has gone
        end.then { |pid| (@pids ||= []) << pid }
        writer.close
      end.first
    end
    ports = readers.flat_map { |reader| reader.read.split.map(&:to_i) } + Array.new(10) { Ports.free }
    assert_equal 40, ports.uniq.length
  ensure
    @pids&.each { |pid| Process.kill("KILL", pid) && Process.wait(pid) }
  end

  def test_one_that_is_in_use_is_left_out
    taken = Array.new(5) { TCPServer.new("127.0.0.1", Ports.free) }
    again = Array.new(200) { Ports.free }
    assert_empty again & taken.map { |server| server.addr[1] }
    assert_operator again.tally.values.min, :>, 1, "all others come again"
  ensure
    taken&.each(&:close)
  end

  def test_two_threads_never_have_the_same_one
    assert_equal 40, Array.new(4) { Thread.new { Array.new(10) { Ports.free } } }.flat_map(&:value).uniq.length
  end
end
