# frozen_string_literal: true

module Cuttle
  # The files that tell others of a running server: the pidfile, and the state file of `cuttle ctl` (--pidfile,
  # --state). A server holds its files for life, so a second one that wants the same files does not start. What a dead
  # server left behind is replaced.
  #
  #   claim ---> announce (the control listener is there) ---> release
  #     `-------- over_exec: the next image of the same process claims them again
  #
  # Forked children may inherit this object. They neither write nor remove the files.
  class PidFile
    autoload :Held, "cuttle/pid_file/held"
    autoload :State, "cuttle/pid_file/state"

    # The files that the image before an exec still has open: PID, then a line "FD:PATH" for each.
    HANDED_OVER = "CUTTLE_PID_FILES"

    # The pid of the server that holds the pidfile or state file at +path+. nil if none does: the file is missing, or
    # stale. Raises Error if the file can't be read.
    def self.owner(path)
      Held.owner(path)
    end

    def initialize(settings)
      @pid = Held.new(settings.pidfile, "pidfile", 0o666) if settings.pidfile
      @state = Held.new(settings.state_path, "state file", settings.state_permission.to_i(8)) if settings.state_path
    end

    # Writes the files that are wanted. Raises Error, and holds none, if another server holds one of them, or if one
    # can't be written.
    def claim
      handed_over.each { |file, path| take(file, path) }
      @pid&.write("#{Process.pid}\n")
      @state&.write(State.text)
    rescue Error
      release
      raise
    end

    # Adds +control+, a Control, to the state file.
    def announce(control)
      @state&.write(State.text(url: control.uri, token: control.token))
    end

    # Calls the block, which replaces this process' program (exec). The files stay held while the next one starts; it
    # claims them again. If the block returns or raises, nothing has changed.
    def over_exec
      files = held.map(&:file)
      files.each { |file| file.close_on_exec = false }
      lines = held.map { |each| "#{each.file.fileno}:#{each.path}" }
      yield files.empty? ? {} : { HANDED_OVER => [Process.pid, *lines].join("\n") }
    ensure
      files&.each { |file| file.close_on_exec = true }
    end

    # Removes the files if they are still this process'.
    def release
      held.each(&:release)
    end

    # For a forked child: closes its copies of the descriptors.
    def close
      held.each(&:close)
    end

    private

    def wanted
      [@pid, @state].compact
    end

    def held
      wanted.select(&:file)
    end

    # A file at a path that is not wanted any more goes.
    def take(file, path)
      return if wanted.find { |held| held.adopt(file) }

      former = Held.new(path, nil, nil)
      former.release if former.adopt(file)
    end

    # [open file, path] of each file that this process' last image held. Descriptors that are none stay as they are.
    def handed_over
      pid, *lines = ENV.delete(HANDED_OVER).to_s.split("\n")
      return [] unless pid.to_i == Process.pid

      lines.map { |line| line.split(":", 2) }
           .map { |number, path| [File.for_fd(Integer(number), autoclose: false), path.to_s] }
    rescue ArgumentError, SystemCallError
      []
    end
  end
end
