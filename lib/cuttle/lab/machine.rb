# frozen_string_literal: true

require "etc"

module Cuttle
  module Lab
    # Facts about the machine, for the header of a lab's results.
    module Machine
      autoload :Cores, "cuttle/lab/machine/cores"
      autoload :CoreSpeed, "cuttle/lab/machine/core_speed"
      autoload :Meter, "cuttle/lab/machine/meter"
      autoload :Warnings, "cuttle/lab/machine/warnings"

      # They take a few milliseconds.
      BATCHES = 5
      CALLS = 1000

      # Facts that differ a little whenever they are measured.
      MEASURED = %w[system_call].freeze

      module_function

      def facts(cores)
        { "cpu" => cpu, "cores" => Etc.sysconf(Etc::SC_NPROCESSORS_ONLN), "memory" => memory, "system" => system_name,
          "kernel" => Etc.uname.values_at(:sysname, :release, :machine).join(" "), "ruby" => RUBY_DESCRIPTION,
          "yjit" => yjit?, "system_call" => system_call.round(8), "server_cores" => cores.server,
          "load_cores" => cores.load, "cuttle" => VERSION }
      end

      def cpu
        information = File.read("/proc/cpuinfo")
        name = information[/^model name\s*:\s*(.+)$/, 1] || Etc.uname[:machine]
        information.match?(/^flags.*\bhypervisor\b/) ? "#{name} (virtual)" : name
      rescue SystemCallError
        Etc.uname[:machine]
      end

      # CPU seconds of one of the cheapest system calls, getppid(2): the fastest of a few batches, with Ruby's part.
      def system_call
        Array.new(BATCHES) do
          began = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
          CALLS.times { Process.ppid }
          (Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - began) / CALLS
        end.min
      end

      # The path of a program, or nil. Searches the system's directories as well, which a user's PATH may lack.
      def program(name)
        directories = ENV.fetch("PATH", "").split(File::PATH_SEPARATOR) | %w[/usr/sbin /sbin]
        paths = directories.map { |directory| "#{directory}/#{name}" }
        paths.find { |path| File.file?(path) && File.executable?(path) }
      end

      # CPU seconds of the children that this process waited for, by getrusage (microseconds).
      def children_cpu
        times = Process.times
        times.cutime + times.cstime
      end

      # Total memory in octets, or nil.
      def memory
        File.read("/proc/meminfo")[/^MemTotal:\s*(\d+)/, 1].to_i * 1024
      rescue SystemCallError
        nil
      end

      def system_name
        File.read("/etc/os-release")[/^PRETTY_NAME="?([^"\n]+)/, 1]
      rescue SystemCallError
        Etc.uname[:sysname]
      end

      # Whether this Ruby has YJIT enabled. A server gets the same options (see Servers::Server::RUBYOPT).
      def yjit?
        defined?(RubyVM::YJIT) && RubyVM::YJIT.respond_to?(:enabled?) ? RubyVM::YJIT.enabled? : false
      end
    end
  end
end
