# frozen_string_literal: true

require "etc"
require_relative "eventually"

# How much of a CPU other processes use.
module CpuTime
  module_function

  # The share of one CPU that a process uses, over that many seconds.
  def busy(pid, over: 1)
    before = seconds(pid)
    passed = Eventually.elapsed { sleep over }
    (seconds(pid) - before) / passed
  end

  # Seconds of CPU time that a process has had so far, by the kernel.
  def seconds(pid)
    ticks = File.read("/proc/#{pid}/stat").split(") ").last.split.values_at(11, 12).sum(&:to_i)
    ticks.fdiv(Etc.sysconf(Etc::SC_CLK_TCK))
  end
end
