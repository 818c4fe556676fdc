# frozen_string_literal: true

require "test_helper"
require "io/wait"

# What all load testers have in common.
class TestTester < Minitest::Test
  include Eventually
  include TemporaryDirectory

  # Ignores every signal that a program can ignore, as Siege does while it starts. A shell starts it. The URL names a
  # pipe, which is open until both have ended.
  class Deaf < Cuttle::Lab::Testers::Tester
    PROGRAM = "sh"
    SCRIPT = 'trap "" TERM INT HUP QUIT; exec > "$1"; echo started; sleep 60; echo ended'

    def self.read(_text) = nil

    private

    def command = ["sh", "-c", SCRIPT, "sh", @url]
  end

  def test_an_interrupt_ends_a_program_that_heeds_none
    File.mkfifo("#{@directory}/pipe")
    File.open("#{@directory}/pipe", File::RDONLY | File::NONBLOCK) do |pipe|
      tester = Deaf.new(pipe.path, connections: 1, duration: 600)
      run = Thread.new { tester.run }
      assert pipe.wait_readable(PATIENCE)
      assert_equal "started\n", pipe.gets
      tester.interrupt
      assert pipe.wait_readable(PATIENCE)
      assert_predicate pipe, :eof?
      assert_predicate run.value, :interrupted?
    end
  end
end
