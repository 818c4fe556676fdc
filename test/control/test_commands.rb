# frozen_string_literal: true

require "test_helper"

# What the control listener asks its process.
class TestCommands < Minitest::Test
  include Eventually

  # Two processes.
  class Server
    def ready? = true
    def figures = self
    def measures = {}
    def owners = { { process: "supervisor" } => [1], { process: "mould" } => [2] }
  end

  # The control listener has two threads: one that reads the memory of many processes must not hold up the other.
  def test_a_question_while_memory_is_read_gets_the_reading_before
    commands = Cuttle::Control::Commands.new(Server.new, cluster: true, files: false, directory: Dir.pwd)
    entered, go = Thread::Queue.new, Thread::Queue.new
    reading(->(_) { entered << (1) && go.pop }) do
      reader = Thread.new { commands.measures[:memory] }
      entered.pop
      assert_empty commands.measures[:memory]
      2.times { go << 7 }
      assert_equal({ 1 => 7, 2 => 7 }, reader.value)
      assert_equal({ 1 => 7, 2 => 7 }, commands.measures[:memory])
    end
  end

  private

  def reading(read)
    original = Cuttle::Stats.method(:memory)
    silently { Cuttle::Stats.define_singleton_method(:memory, &read) }
    yield
  ensure
    silently { Cuttle::Stats.define_singleton_method(:memory, original) }
  end

  def silently
    before, $VERBOSE = $VERBOSE, nil
    yield
  ensure
    $VERBOSE = before
  end
end
