# frozen_string_literal: true

module Cuttle
  # The memory that this process may use, in octets: the machine's, or less by its control groups.
  module Memory
    # The memory of an app's thread, rounded up: a Rails app took 36 MB for seven further threads (the study
    # q12-memory).
    THREAD = 8 << 20

    # The share of all memory that threads may take beyond the first.
    SHARE = 0.25

    # The files with a group's limit and its use, by version.
    FILES = { 1 => %w[memory.limit_in_bytes memory.usage_in_bytes], 2 => %w[memory.max memory.current] }.freeze

    class << self
      # How many threads there is memory for in each of +processes+ processes: from 1 to +most+. +root+ is the directory
      # of /proc and /sys.
      def threads(processes, most, root: "/")
        octets = all(root) or return most
        [1 + (octets * SHARE / THREAD / [processes, 1].max).floor, most].min
      end

      # How many workers there is memory for, from 1 to +most+, if the loaded app takes +octets+ (nil: unknown). Each of
      # them, and the process that loaded it, may come to own as much, because memory is shared only until a process
      # writes to it.
      def workers(octets, most, root: "/")
        room = octets && all(root)
        room ? ((room / octets) - 1).clamp(1, most) : most
      end

      # Whether there is memory for another thread now, and as much again.
      def room?(root: "/")
        left = left(root)
        left.nil? || left >= 2 * THREAD
      end

      private

      def all(root)
        [machine("MemTotal", root), *groups(root) { |limit, _| limit }].compact.min
      end

      # The memory that is still available. Cached files count as available.
      def left(root)
        [machine("MemAvailable", root),
         *groups(root) { |limit, use| limit && (limit - use.call) }].compact.min
      end

      def machine(name, root)
        kilobytes = ControlGroups.read("#{root}/proc/meminfo")[/^#{name}:\s*(\d+) kB/, 1]
        kilobytes && (kilobytes.to_i << 10)
      end

      # Yields the limit of each group (nil: none), and what returns its use.
      def groups(root)
        ControlGroups.map("memory", root: root) do |version, directory|
          limit, use = FILES.fetch(version).map { |name| "#{directory}/#{name}" }
          yield ControlGroups.read(limit)[/\A\d+/]&.to_i, -> { used(use, "#{directory}/memory.stat", version) }
        end
      end

      def used(use, stat, version)
        files = ControlGroups.read(stat).scan(/^#{"total_" if version == 1}(?:in)?active_file (\d+)/)
        ControlGroups.read(use).to_i - files.sum { |(octets)| octets.to_i }
      end
    end
  end
end
