# frozen_string_literal: true

require "test_helper"
require "open3"

# What rake sanitize:core preloads beside AddressSanitizer.
class TestSanitizer < Minitest::Test
  include Serving
  include TemporaryDirectory

  FORK = File.expand_path("../support/sanitizer/fork.c", __dir__)

  # Forks while a thread writes a file without the GVL. Prints how much of it the child found.
  SCRIPT = <<~RUBY
    Thread.new { IO.copy_stream("/dev/zero", "copy", 100_000_000) }
    Thread.pass until File.size?("copy")
    Process.wait(fork { $stdout.syswrite(File.size("copy")).then { exit!(0) } })
  RUBY

  def test_a_fork_waits_until_other_threads_sleep
    skip "no Linux, or no compiler" unless Preload.library(FORK)

    said, status = Open3.capture2e(Preload.env(FORK), *ServingProcess.ruby, "-e", SCRIPT, chdir: @directory)
    assert_predicate status, :success?, said
    assert_equal "100000000", said
  end
end
