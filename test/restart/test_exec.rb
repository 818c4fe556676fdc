# frozen_string_literal: true

require "test_helper"

# A program that the system can't execute: the process goes on as it was.
class TestExec < Minitest::Test
  include TemporaryDirectory

  # Where the server was started. Releases are the same.
  Directory = Struct.new(:start) do
    def follow(variables) = variables.to_h
    def follow_program(command) = command
  end

  # Has no files.
  class PidFile
    def over_exec = yield({})
  end

  def setup
    @said = []
  end

  def test_it_stays_in_its_directory
    before = Dir.pwd
    restart.exec
    assert_equal before, Dir.pwd
    assert_equal ["hot restart: No such file or directory - #{@directory}/missing; continues as before"], @said
  end

  private

  def restart
    restart = Cuttle::Restart.new(["#{@directory}/missing"], [], Directory.new(@directory), @said.method(:<<))
    restart.listeners = Cuttle::Listeners.new([])
    restart.pid_file = PidFile.new
    restart
  end
end
