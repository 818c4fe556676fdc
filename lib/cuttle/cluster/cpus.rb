# frozen_string_literal: true

require "etc"

module Cuttle
  class Cluster
    # How many CPUs this process may keep busy: the minimum of the machine's CPUs, the CPUs that its affinity allows
    # (sched_setaffinity, cpusets), and the whole CPUs in the quotas of its control groups (versions 1 and 2).
    module Cpus
      # The files with a group's quota and period, by version.
      FILES = { 1 => %w[cpu.cfs_quota_us cpu.cfs_period_us], 2 => %w[cpu.max] }.freeze

      class << self
        # At least 1. +root+ is the directory of /proc and /sys. Half a CPU of a quota does not count.
        def count(root: "/", online: Etc.nprocessors)
          limits = [online, affinity(root), *quotas(root)].compact
          [limits.min.floor, 1].max
        end

        private

        # Etc.nprocessors respects the affinity only if the C library does. /proc/self/status has it on every Linux.
        def affinity(root)
          list = ControlGroups.read("#{root}/proc/self/status")[/^Cpus_allowed_list:\s*(\S+)/, 1] or return
          list.split(",").sum do |part|
            first, last = part.split("-").map(&:to_i)
            last ? last - first + 1 : 1
          end
        end

        # CPUs by each quota.
        def quotas(root)
          ControlGroups.map("cpu", root: root) do |version, directory|
            quota(FILES.fetch(version).map { |file| ControlGroups.read("#{directory}/#{file}") })
          end
        end

        # nil if there is no limit ("max", -1, or no such file).
        def quota(texts)
          quota, period = texts.join(" ").split.map(&:to_i)
          quota.fdiv(period) if quota&.positive? && period&.positive?
        end
      end
    end
  end
end
