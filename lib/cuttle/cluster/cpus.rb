# frozen_string_literal: true

require "etc"

module Cuttle
  class Cluster
    # How many processors this process may keep busy: the least of the machine's, those that its affinity allows
    # (sched_setaffinity, cpusets), and the whole ones that its control groups pay for (versions 1 and 2).
    module Cpus
      # What holds a group's quota and period, by version.
      FILES = { 1 => %w[cpu.cfs_quota_us cpu.cfs_period_us], 2 => %w[cpu.max] }.freeze

      class << self
        # Never less than 1. +root+ is where /proc and /sys are. Half a processor of a quota is not counted.
        def count(root: "/", online: Etc.nprocessors)
          limits = [online, affinity(root), *quotas(root)].compact
          [limits.min.floor, 1].max
        end

        private

        # Etc.nprocessors looks at the affinity where the C library does; /proc/self/status says it on every Linux.
        def affinity(root)
          list = read("#{root}/proc/self/status")[/^Cpus_allowed_list:\s*(\S+)/, 1] or return
          list.split(",").sum do |part|
            first, last = part.split("-").map(&:to_i)
            last ? last - first + 1 : 1
          end
        end

        # CPUs by each quota from our group up to the mount point, for the strictest ancestor counts.
        def quotas(root)
          groups = groups(root)
          mounts(root).flat_map do |version, top, directory|
            files = FILES.fetch(version)
            ancestors(below(groups[version].to_s, top)).filter_map do |path|
              quota(files.map { |file| read("#{root}#{directory}#{path}/#{file}") })
            end
          end
        end

        # Version => our group's path, as /proc/self/cgroup says it.
        def groups(root)
          read("#{root}/proc/self/cgroup").each_line.with_object({}) do |line, groups|
            _, controllers, group = line.chomp.split(":", 3)
            groups[2] = group if controllers == ""
            groups[1] = group if controllers.split(",").include?("cpu")
          end
        end

        # [version, the group that is mounted, where] of each mounted hierarchy that may hold a quota.
        def mounts(root)
          read("#{root}/proc/self/mountinfo").each_line.filter_map do |line|
            mount, filesystem = line.split(" - ")
            _, _, _, top, directory = mount.split
            type, _, options = filesystem.to_s.split
            version = { "cgroup2" => 2, "cgroup" => 1 }[type]
            [version, top, directory] if version == 2 || (version == 1 && options.split(",").include?("cpu"))
          end
        end

        # In a container the mount point often is our group itself, and +group+ names it from outside.
        def below(group, top)
          return group if top == "/"

          group.start_with?(top) ? group.delete_prefix(top) : ""
        end

        # "/a/b" => ["/a/b", "/a", ""]
        def ancestors(group)
          names = group.split("/").reject(&:empty?)
          names.length.downto(0).map { |count| names.take(count).map { |name| "/#{name}" }.join }
        end

        # nil where there is no limit ("max", -1, or no such file).
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
