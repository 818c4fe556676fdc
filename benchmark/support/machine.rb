# frozen_string_literal: true

module Bench
  # What the figures were measured on.
  module Machine
    module_function

    # Name => text.
    def facts
      { date: Time.now.strftime("%Y-%m-%d"), cpu: cpu, cores: Cores.allowed.size, memory: memory, system: system_name,
        kernel: Etc.uname.values_at(:sysname, :release).join(" "), ruby: RUBY_DESCRIPTION,
        wrk: Program.version("wrk", "-v").to_s[/\d+\.\d+\.\d+/], gcc: Program.version("gcc", "--version") }.compact
    end

    def cpu
      information = File.read("/proc/cpuinfo")
      name = information[/^model name\s*:\s*(.+)$/, 1]
      information.match?(/^flags.*\bhypervisor\b/) ? "#{name} (virtual)" : name
    end

    def memory
      "#{(File.read("/proc/meminfo")[/^MemTotal:\s*(\d+)/, 1].to_i / 1024.0**2).round} GB"
    end

    def system_name
      File.read("/etc/os-release")[/^PRETTY_NAME="?([^"\n]+)/, 1] if File.exist?("/etc/os-release")
    end
  end
end
