# frozen_string_literal: true

require "open3"
require "tmpdir"

module Runner
  # Where tests have their temporary files, of which there are tens of thousands: in memory, if the system has a file
  # system for that with enough room. A new file on a disk costs up to a millisecond of processor time: ext4 without a
  # journal looks for an inode that was not deleted in the last minute.
  module Scratch
    MEMORY = "/dev/shm"

    # Octets that must be free in it, and of memory: many times what a run has there at once.
    ROOM = 4 << 30

    # TMPDIR says otherwise.
    def self.directory
      ENV.key?("TMPDIR") || !roomy? ? Dir.tmpdir : MEMORY
    end

    # +mounts+ and +memory+: what Linux has in /proc/mounts and /proc/meminfo. +free+: octets free in MEMORY.
    def self.roomy?(mounts: read("/proc/mounts"), memory: read("/proc/meminfo"), free: method(:free))
      options = mounts[/^tmpfs #{MEMORY} tmpfs (\S+)/, 1]&.split(",") or return false
      return false if options.intersect?(%w[ro noexec]) # tests compile libraries

      [memory[/^MemAvailable: +(\d+) kB$/, 1].to_i * 1024, free.call].min >= ROOM
    end

    def self.read(path)
      File.read(path)
    rescue SystemCallError
      "" # not Linux
    end

    def self.free
      told, status = Open3.capture2e("df", "-Pk", MEMORY)
      status.success? ? told.lines.last.split[3].to_i * 1024 : 0
    rescue SystemCallError
      0
    end

    private_class_method :read, :free
  end
end
