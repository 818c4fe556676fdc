# frozen_string_literal: true

require "open3"
require "rbconfig"

# Processes as in a container whose runtime is older than epoll_pwait2, and answers calls that it does not know with
# EPERM.
module OldContainer
  # Asks the kernel to refuse that call (number 441) from now on, with prctl (157).
  REFUSE = <<~RUBY
    filter = [[0x20, 0, 0, 0], [0x15, 0, 1, 441], [0x06, 0, 0, 0x50001], [0x06, 0, 0, 0x7fff0000]]
    syscall(157, 38, 1, 0, 0, 0)
    program = [4, filter.map { |row| row.pack("SCCL") }.join].pack("Sx6P")
    syscall(157, 22, 2, [program].pack("P").unpack1("J"), 0, 0)
  RUBY

  LIBRARY = File.expand_path("../../lib", __dir__)

  # What a script prints in such a process, which has Cuttle.
  def old_container(script)
    skip "knows the numbers of x86-64 only" unless RUBY_PLATFORM.match?(/\Ax86_64-linux/)

    Open3.capture2(RbConfig.ruby, "--disable=gems", "-I#{LIBRARY}", "-rcuttle", "-e", REFUSE + script).first
  end
end
