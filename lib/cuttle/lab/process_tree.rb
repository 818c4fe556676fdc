# frozen_string_literal: true

require "etc"

module Cuttle
  module Lab
    # A server's process and its descendants, as /proc tells of them: CPU time, context switches, memory.
    #
    # CPU time is read from each process's own CPU clock (clock_gettime of a pid's clock), not from utime and stime of
    # /proc/PID/stat: it has nanoseconds instead of ticks of 10 ms, and likewise counts all threads, those that ended
    # too. Children that ended and were waited for are added from /proc/PID/stat.
    class ProcessTree
      # CPUCLOCK_SCHED of linux/posix-timers.h, in the low bits of a clock id made from a pid.
      SCHEDULER_CLOCK = 2
      TICK = 1.0 / Etc.sysconf(Etc::SC_CLK_TCK)
      # Fields of /proc/PID/stat, counted from the state, which follows the command in parentheses.
      PARENT, GROUP, CHILD_USER, CHILD_SYSTEM, START = 1, 2, 13, 14, 19

      Kin = Struct.new(:pid, :parent, :group, :start)

      attr_reader :leader

      # Of CPU time that one process took so far; 0 where it ended.
      def self.cpu_seconds(pid)
        Process.clock_gettime((~pid << 3) | SCHEDULER_CLOCK)
      rescue Errno::EINVAL, Errno::ESRCH
        0.0
      end

      # leader: pid of a process that leads its own process group, and is the only one that this process has started
      # and not yet waited for.
      def initialize(leader)
        @leader = leader
        @start = kin(leader)&.start
        @strangers = []
      end

      # A process that this one started since, and that is no part of the server.
      def leave_out(pid)
        @strangers << pid
      end

      # Pids of the leader, its descendants, whoever else is in its process group, and the orphans of it.
      def pids
        known = Dir.children("/proc").grep(/\A\d+\z/).map(&:to_i) - @strangers
        living = known.filter_map { |pid| kin(pid) }
        family, others = living.partition { |process| ours?(process) }
        loop do
          children, others = others.partition { |process| family.any? { |parent| parent.pid == process.parent } }
          return family.map(&:pid) if children.empty?

          family += children
        end
      end

      # Seconds of CPU time used so far.
      def cpu_seconds
        pids.sum { |pid| self.class.cpu_seconds(pid) + reaped_cpu(pid) }
      end

      # Pid => the same of each process that lives, without those that it waited for.
      def cpu_by_process
        pids.to_h { |pid| [pid, self.class.cpu_seconds(pid)] }
      end

      # Voluntary context switches of the threads that live now.
      def voluntary_switches
        each_file("task/*/status").sum { |text| text[/^voluntary_ctxt_switches:\s*(\d+)/, 1].to_i }
      end

      # Pid => proportional set size in octets: a page shared by n processes counts 1/n for each.
      def pss
        pids.to_h { |pid| [pid, read("/proc/#{pid}/smaps_rollup")] }.compact
            .transform_values { |text| text[/^Pss:\s*(\d+)/, 1].to_i * 1024 }
      end

      # The part of it that is no file's, in kilobytes: what a server takes for its work. Who else has the same
      # libraries in memory does not change it.
      def anonymous
        each_file("smaps_rollup").sum { |text| text.scan(/^Pss_(?:Anon|Shmem):\s*(\d+)/).sum { |(size)| size.to_i } }
      end

      # Pid => names of its native threads.
      def threads
        pids.to_h { |pid| [pid, Dir["/proc/#{pid}/task/*/comm"].filter_map { |path| read(path)&.chomp }] }
      end

      # Of a process' first thread, which those that nobody named have as well; nil where it ended.
      def name(pid)
        read("/proc/#{pid}/comm")&.chomp
      end

      # Pids whose parent the leader is.
      def children
        pids.select { |pid| kin(pid)&.parent == leader }
      end

      # Pids that have a socket open which listens on that TCP port.
      def listeners(port)
        sockets = listening(port).map { |inode| "socket:[#{inode}]" }
        pids.select { |pid| Dir["/proc/#{pid}/fd/*"].any? { |path| sockets.include?(link(path)) } }
      end

      # Open descriptors.
      def descriptors
        pids.sum { |pid| Dir["/proc/#{pid}/fd/*"].size }
      end

      # Resident set size in kilobytes; shared pages count for each process.
      def rss
        each_file("status").sum { |text| text[/^VmRSS:\s*(\d+)/, 1].to_i }
      end

      private

      # What is known of a process that lives; nil of one that ended.
      def kin(pid)
        fields = stat(pid)
        Kin.new(pid, *fields.values_at(PARENT, GROUP, START).map(&:to_i)) if fields && fields.first != "Z"
      end

      def ours?(process)
        process.pid == leader || process.group == leader ||
          (process.parent == Process.pid && !@start.nil? && process.start >= @start)
      end

      def reaped_cpu(pid)
        fields = stat(pid)
        fields ? (fields[CHILD_USER].to_i + fields[CHILD_SYSTEM].to_i) * TICK : 0.0
      end

      def stat(pid)
        read("/proc/#{pid}/stat")&.rpartition(")")&.last&.split
      end

      # Inodes of the sockets that listen on +port+ (state 0A of /proc/net/tcp).
      def listening(port)
        tables = %w[/proc/net/tcp /proc/net/tcp6].select { |path| File.exist?(path) }
        address = format(":%04X", port)
        lines = tables.flat_map { |path| File.readlines(path).drop(1) }.map(&:split)
        lines.select { |fields| fields[3] == "0A" && fields[1].end_with?(address) }.map { |fields| fields[9] }
      end

      def link(path)
        File.readlink(path)
      rescue SystemCallError
        nil # it was closed since we looked
      end

      def each_file(pattern)
        pids.flat_map { |pid| Dir["/proc/#{pid}/#{pattern}"] }.filter_map { |path| read(path) }
      end

      def read(path)
        File.read(path)
      rescue Errno::ENOENT, Errno::ESRCH # it ended since we looked
        nil
      end
    end
  end
end
