# frozen_string_literal: true

require "securerandom"

module Cuttle
  class PidFile
    # A file that a process writes and holds until it ends: it has a lock (flock) on it. Content is replaced as a whole,
    # so a reader never sees half of it. A process that dies, however it dies, loses the lock, so a pid that the system
    # has given to another process since is not taken for the server's.
    #
    # A lock is inherited by forked children. Therefore a file is live only if it is locked, and the process that it
    # names lives. Where a file system has no locks, only the pid tells. Processes that write or remove files of one
    # directory take turns (Turns).
    class Held
      class << self
        # The pid of the process that holds the file at +path+, or nil. Raises Error if the file can't be read.
        def owner(path)
          File.open(path, File::RDONLY | File::NONBLOCK) do |file|
            pid = pid_in(file)
            return pid if pid && lives?(pid) && locked?(file)
            return if File.identical?(file, path)
          end
          owner(path) # it was replaced meanwhile
        rescue Errno::ENOENT
          nil
        rescue SystemCallError => error
          raise Error, "can't read #{path}: #{error.class.new.message}"
        end

        # The pid that a pidfile or a state file names, or nil.
        def pid_in(file)
          text = file.read(4096).to_s.b
          pid = (text[/\A\s*(\d{1,10})\s*\z/, 1] || State.parse(text)["pid"]).to_i
          pid if pid.positive?
        end

        def lives?(pid)
          Process.kill(0, pid)
          true
        rescue Errno::EPERM
          true
        rescue Errno::ESRCH, RangeError
          false
        end

        # Readers lock for a moment, and don't disturb each other.
        def locked?(file)
          Turns.lock(file, File::LOCK_SH) != 0
        end
      end

      # The open file (nil while this process holds none), and where it is.
      attr_reader :file, :path

      # +name+ says in messages what the file is; +mode+ are its permissions.
      def initialize(path, name, mode)
        @path = path
        @name = name
        @mode = mode
      end

      # Continues to hold +file+, which the image of this process before an exec left open, if that is the file at the
      # path. Returns whether it is.
      def adopt(file)
        return false unless File.identical?(file, @path)

        file.autoclose = file.close_on_exec = true
        @owner = Process.pid
        @file = file
        true
      end

      # Takes the file, or replaces its content. Raises Error if another process holds it, or if it can't be written.
      def write(text)
        Turns.take(File.dirname(@path)) do
          refuse
          replace(text)
        end
      rescue SystemCallError => error
        raise Error, "can't write the #{@name} #{@path}: #{reason(error)}"
      end

      # Removes the file if this process wrote it, and nobody else has replaced it since.
      def release
        return close unless @owner == Process.pid

        Turns.take(File.dirname(@path)) { File.unlink(@path) if ours? && pid == @owner }
      rescue SystemCallError
        nil # it is gone, or its directory is
      ensure
        close
      end

      # Closes the descriptor, and with it gives up the lock, unless a forked child still has it.
      def close
        @file&.close
        @file = nil
      end

      private

      def pid
        File.open(@path, "r") { |file| self.class.pid_in(file) }
      end

      def ours?
        @file && File.identical?(@file, @path)
      end

      # What is there may be replaced if it is a pidfile or state file, and nobody's.
      def refuse
        return if ours?
        raise Error, "the #{@name} #{@path} is not a regular file" unless File.lstat(@path).file?
        raise Error, "#{@path} is not a #{@name}: it has other content" unless File.empty?(@path) || pid

        owner = self.class.owner(@path) or return
        raise Error, "process #{owner} is already running and holds the #{@name} #{@path}"
      rescue Errno::ENOENT
        nil
      end

      def replace(text)
        temporary = "#{@path}.#{SecureRandom.hex(6)}"
        file = File.open(temporary, File::RDWR | File::CREAT | File::EXCL, @mode)
        fill(file, text)
        File.rename(temporary, @path)
        close
        @file = file
        @owner = Process.pid
      rescue StandardError
        file&.close
        File.unlink(temporary) if file
        raise
      end

      def fill(file, text)
        file.chmod(@mode) unless @mode == 0o666 # else the umask counts
        file.write(text)
        file.flush
        Turns.lock(file, File::LOCK_EX)
      end

      def reason(error)
        case error
        when Errno::ENOENT, Errno::ENOTDIR then "its directory does not exist"
        when Errno::EACCES, Errno::EROFS, Errno::EPERM then "this user may not"
        else error.class.new.message
        end
      end
    end
  end
end
