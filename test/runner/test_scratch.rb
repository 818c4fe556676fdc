# frozen_string_literal: true

require "test_helper"
require_relative "scratch"

# Tests have their files in memory only where these fit, and where programs may run from there.
class TestScratch < Minitest::Test
  Scratch = Runner::Scratch

  MEMORY = "MemTotal:  24684092 kB\nMemFree:  100 kB\nMemAvailable:   20684092 kB\n"

  def test_where_there_is_room
    assert roomy
    assert roomy(free: Scratch::ROOM)
  end

  def test_where_there_is_too_little
    refute roomy(free: Scratch::ROOM - 1)
    refute roomy(memory: "MemAvailable:   2068409 kB\n")
    refute roomy(memory: "")
  end

  def test_where_programs_can_not_run_or_nothing_is_written
    refute roomy(options: "rw,nosuid,nodev,noexec,relatime,size=65536k")
    refute roomy(options: "ro,relatime")
  end

  def test_where_there_is_no_such_file_system
    refute Scratch.roomy?(mounts: "", memory: MEMORY, free: -> { flunk })
    refute Scratch.roomy?(mounts: "/dev/vda /dev/shm ext4 rw 0 0\n", memory: MEMORY, free: -> { flunk })
  end

  def test_a_directory_that_is_named_is_used
    Dir.mktmpdir do |directory|
      before = ENV.fetch("TMPDIR", nil)
      ENV["TMPDIR"] = directory
      assert_equal directory, Scratch.directory
    ensure
      ENV["TMPDIR"] = before
    end
  end

  # The figures of this system can be read.
  def test_here
    assert_includes [true, false], Scratch.roomy?
    assert_path_exists Scratch.directory
  end

  private

  def roomy(options: "rw,nosuid,nodev,relatime,size=24684092k", memory: MEMORY, free: 2 * Scratch::ROOM)
    mounts = "/dev/vda / ext4 rw,relatime 0 0\ntmpfs /dev/shm tmpfs #{options} 0 0\n"
    Scratch.roomy?(mounts: mounts, memory: memory, free: -> { free })
  end
end
