# frozen_string_literal: true

require "etc"

module Cuttle
  module Lab
    module Servers
      # A server's process and its descendants, read from /proc: CPU time, context switches, memory.
      #
      # CPU time comes from each process's CPU clock (clock_gettime with the clock of a pid), not from utime and stime
      # in /proc/PID/stat. The clock counts nanoseconds instead of ticks of 10 ms, and includes threads that have ended.
      # The CPU time of reaped children is added from /proc/PID/stat.
      class ProcessTree
        # CPUCLOCK_SCHED of linux/posix-timers.h: the low bits of a clock id made from a pid.
        SCHEDULER_CLOCK = 2
        TICK = 1.0 / Etc.sysconf(Etc::SC_CLK_TCK)
        # Fields of /proc/PID/stat, counted from the state, which follows the command in parentheses.
        PARENT, GROUP, CHILD_USER, CHILD_SYSTEM, THREADS, START = 1, 2, 13, 14, 17, 19

        # Fields of a line of /proc/net/tcp, and the state of a socket that listens.
        SOCKET_ADDRESS, SOCKET_STATE, SOCKET_INODE, LISTENING = 1, 3, 9, "0A"

        Kin = Struct.new(:pid, :parent, :group, :start)

        attr_reader :leader

        # CPU seconds that one process has used; 0 if it has ended.
        def self.cpu_seconds(pid)
          Process.clock_gettime((~pid << 3) | SCHEDULER_CLOCK)
        rescue Errno::EINVAL, Errno::ESRCH
          0.0
        end

        # Listening TCP sockets on +port+, or on any port: each as descriptors name it, "socket:[INODE]". The kernel
        # lists them first. Thousands of connections may follow, including closed ones.
        def self.listening(port = nil)
          sockets(port) { |lines| lines.take_while { |fields| fields[SOCKET_STATE] == LISTENING } }
        end

        # TCP connections to +port+ that a process has accepted, in the same form. Those in the backlog have no inode.
        def self.accepted(port)
          sockets(port) do |lines|
            lines.reject { |fields| fields[SOCKET_STATE] == LISTENING || fields[SOCKET_INODE] == "0" }
          end
        end

        # The sockets that the block selects from the lines of each table, as Arrays of fields.
        def self.sockets(port, &select)
          tables = %w[/proc/net/tcp /proc/net/tcp6].select { |path| File.exist?(path) }
          found = tables.flat_map { |path| select.call(File.foreach(path).lazy.drop(1).map(&:split)).to_a }
          found = found.select { |fields| fields[SOCKET_ADDRESS].end_with?(format(":%04X", port)) } if port
          found.map { |fields| "socket:[#{fields[SOCKET_INODE]}]" }
        end
        private_class_method :sockets

        # Whether that process has one of these sockets open.
        def self.open?(pid, sockets)
          Dir["/proc/#{pid}/fd/*"].any? do |path|
            sockets.include?(File.readlink(path))
          rescue SystemCallError
            false # it was closed meanwhile, or belongs to another user
          end
        end

        # leader: pid of a process that leads its own process group, and is the only unreaped child of this process.
        # orphans: whether to include processes that this process has inherited since.
        def initialize(leader, orphans: true)
          @leader = leader
          @orphans = orphans
          @start = kin(leader)&.start
          @strangers = []
        end

        # Leaves out a process that this process started later and that does not belong to the server.
        def leave_out(pid)
          @strangers << pid
        end

        # Pids of the leader, its descendants, its process group, and orphans that this process has inherited.
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

        # CPU seconds used so far.
        def cpu_seconds
          cpu_with_reaped.values.sum
        end

        # Pid => CPU seconds of each living process and of its reaped children.
        def cpu_with_reaped
          pids.to_h { |pid| [pid, self.class.cpu_seconds(pid) + reaped_cpu(pid)] }
        end

        # Pid => CPU seconds of each living process, without its reaped children.
        def cpu_by_process
          pids.to_h { |pid| [pid, self.class.cpu_seconds(pid)] }
        end

        # Voluntary context switches of the living threads.
        def voluntary_switches
          each_file("task/*/status").sum { |text| switches(text) }
        end

        # The native threads of a process with that name, each as "/proc/PID/task/TID".
        def tasks(pid, name)
          Dir["/proc/#{pid}/task/*"].select { |path| name.match?(read("#{path}/comm").to_s.chomp) }
        end

        # The number of voluntary context switches of a thread once it sleeps, or nil if it has ended. After +patience+
        # seconds, the number at that time.
        def switches_at_rest(task, patience: 0.1)
          deadline = Cuttle.now + patience
          while (text = read("#{task}/status"))
            return switches(text) if text.match?(/^State:\s*S/) || Cuttle.now > deadline
          end
        end

        # Pid => proportional set size in octets: a page that n processes share counts 1/n for each.
        def pss
          pids.to_h { |pid| [pid, read("/proc/#{pid}/smaps_rollup")] }.compact
              .transform_values { |text| text[/^Pss:\s*(\d+)/, 1].to_i * 1024 }
        end

        # Resident set size in octets of the largest process.
        def largest
          each_file("smaps_rollup").map { |text| text[/^Rss:\s*(\d+)/, 1].to_i * 1024 }.max
        end

        # The anonymous part of it in kilobytes, which does not depend on other users of the same libraries.
        def anonymous
          each_file("smaps_rollup").sum { |text| text.scan(/^Pss_(?:Anon|Shmem):\s*(\d+)/).sum { |(size)| size.to_i } }
        end

        # Pid => names of its native threads.
        def threads
          pids.to_h { |pid| [pid, Dir["/proc/#{pid}/task/*/comm"].filter_map { |path| read(path)&.chomp }] }
        end

        # Pid => command line, or the title that the process has given itself.
        def command_lines
          pids.to_h { |pid| [pid, read("/proc/#{pid}/cmdline")] }.compact
        end

        # The name of a process's first thread, which its unnamed threads have too; nil if it has ended.
        def name(pid)
          read("/proc/#{pid}/comm")&.chomp
        end

        # Pids of the leader's children.
        def children
          pids.select { |pid| kin(pid)&.parent == leader }
        end

        # Pids with a socket that listens on that TCP port.
        def listeners(port)
          sockets = self.class.listening(port)
          pids.select { |pid| self.class.open?(pid, sockets) }
        end

        # Number of open descriptors.
        def descriptors
          pids.sum { |pid| Dir["/proc/#{pid}/fd/*"].size }
        end

        # Resident set size in kilobytes; shared pages count for each process.
        def rss
          each_file("status").sum { |text| text[/^VmRSS:\s*(\d+)/, 1].to_i }
        end

        private

        def switches(status)
          status[/^voluntary_ctxt_switches:\s*(\d+)/, 1].to_i
        end

        # The fields of a living process, or nil.
        def kin(pid)
          fields = stat(pid)
          Kin.new(pid, *fields.values_at(PARENT, GROUP, START).map(&:to_i)) if fields && living?(fields)
        end

        # The system also calls a process a zombie if only its first thread has ended. Its other threads compute and
        # hold sockets.
        def living?(fields)
          fields.first != "Z" || fields[THREADS].to_i > 1
        end

        def ours?(process)
          process.pid == leader || process.group == leader ||
            (@orphans && process.parent == Process.pid && !@start.nil? && process.start >= @start)
        end

        def reaped_cpu(pid)
          fields = stat(pid)
          fields ? (fields[CHILD_USER].to_i + fields[CHILD_SYSTEM].to_i) * TICK : 0.0
        end

        def stat(pid)
          read("/proc/#{pid}/stat")&.rpartition(")")&.last&.split
        end

        def each_file(pattern)
          pids.flat_map { |pid| Dir["/proc/#{pid}/#{pattern}"] }.filter_map { |path| read(path) }
        end

        def read(path)
          File.read(path)
        rescue Errno::ENOENT, Errno::ESRCH # it ended meanwhile
          nil
        end
      end
    end
  end
end
