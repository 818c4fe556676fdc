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
          list = read("#{root}/proc/self/status")[/^Cpus_allowed_list:\s*(\S+)/, 1] or return
          list.split(",").sum do |part|
            first, last = part.split("-").map(&:to_i)
            last ? last - first + 1 : 1
          end
        end

        # CPUs by each quota, from our group up to the mount point, because the strictest ancestor counts.
        def quotas(root)
          groups = groups(root)
          mounts(root).flat_map do |version, top, directory|
            files = FILES.fetch(version)
            ancestors(below(groups[version].to_s, top)).filter_map do |path|
              quota(files.map { |file| read("#{root}#{directory}#{path}/#{file}") })
            end
          end
        end

        # Version => the path of our group, from /proc/self/cgroup.
        def groups(root)
          read("#{root}/proc/self/cgroup").each_line.with_object({}) do |line, groups|
            _, controllers, group = line.chomp.split(":", 3)
            groups[2] = group if controllers == ""
            groups[1] = group if controllers.split(",").include?("cpu")
          end
        end

        # [version, mounted group, mount point] of each mounted hierarchy that may have a quota.
        def mounts(root)
          read("#{root}/proc/self/mountinfo").each_line.filter_map do |line|
            mount, filesystem = line.split(" - ")
            _, _, _, top, directory = mount.split
            type, _, options = filesystem.to_s.split
            version = { "cgroup2" => 2, "cgroup" => 1 }[type]
            [version, top, directory] if version == 2 || (version == 1 && options.split(",").include?("cpu"))
          end
        end

        # In a container the mount point is often our group itself, and +group+ is its path outside the container.
        def below(group, top)
          return group if top == "/"

          group.start_with?(top) ? group.delete_prefix(top) : ""
        end

        # "/a/b" => ["/a/b", "/a", ""]
        def ancestors(group)
          names = group.split("/").reject(&:empty?)
          names.length.downto(0).map { |count| names.take(count).map { |name| "/#{name}" }.join }
        end

        # nil if there is no limit ("max", -1, or no such file).
        def quota(texts)
          quota, period = texts.join(" ").split.map(&:to_i)
          quota.fdiv(period) if quota&.positive? && period&.positive?
        end

        def read(path)
          File.read(path)
        rescue SystemCallError
          ""
        end
      end
    end
  end
end
