# frozen_string_literal: true

module Cuttle
  # The control groups (Linux, versions 1 and 2) of this process: its own, and those around it up to the mount point,
  # because the strictest of them counts. A container has one or more.
  module ControlGroups
    class << self
      # Calls the block for each group with the version (1 or 2) and its directory. Returns what the block returned, but
      # for nil. +controller+ is that of version 1: "cpu", "memory". +root+ is the directory of /proc and /sys.
      def map(controller, root: "/")
        groups = groups(controller, root)
        mounts(controller, root).flat_map do |version, top, mount|
          ancestors(below(groups[version].to_s, top)).filter_map { |path| yield version, "#{root}#{mount}#{path}" }
        end
      end

      # The content of a file; "" if there is none. The names of mounts may have any octets.
      def read(path)
        File.binread(path)
      rescue SystemCallError
        ""
      end

      private

      # Version => the path of our group, from /proc/self/cgroup.
      def groups(controller, root)
        read("#{root}/proc/self/cgroup").each_line.with_object({}) do |line, groups|
          _, controllers, group = line.chomp.split(":", 3)
          groups[2] = group if controllers == ""
          groups[1] = group if controllers.split(",").include?(controller)
        end
      end

      # [version, mounted group, mount point] of each mounted hierarchy that may have a limit.
      def mounts(controller, root)
        read("#{root}/proc/self/mountinfo").each_line.filter_map do |line|
          mount, filesystem = line.split(" - ")
          _, _, _, top, directory = mount.split
          type, _, options = filesystem.to_s.split
          version = { "cgroup2" => 2, "cgroup" => 1 }[type]
          [version, top, directory] if version == 2 || (version == 1 && options.split(",").include?(controller))
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
    end
  end
end
