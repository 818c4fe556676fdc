# frozen_string_literal: true

module Bench
  # Programs on PATH.
  module Program
    # Where it is, or nil. System directories are searched too, for a user whose PATH lacks them.
    def self.path(name)
      directories = ENV.fetch("PATH", "").split(File::PATH_SEPARATOR) | %w[/usr/sbin /sbin]
      directories.map { |directory| File.join(directory, name) }.find { |path| File.executable?(path) && File.file?(path) }
    end

    # The first line it prints that looks like a version, or nil.
    def self.version(name, *arguments)
      return unless path(name)

      IO.popen([path(name), *arguments], err: %i[child out], &:read).lines.grep(/\d+\.\d+/).first&.strip
    end
  end
end
