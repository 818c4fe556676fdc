# frozen_string_literal: true

module Cuttle
  # Processes that make, replace or remove files of one directory take turns, by a lock (flock) on the directory. So
  # none of them changes what another has just found there.
  module Turns
    # Seconds that a turn may take. It takes no time, but some programs lock a directory for other purposes.
    PATIENCE = 0.5

    # What the system says where a file system has no locks, or none for a directory.
    NO_LOCKS = [Errno::ENOLCK, Errno::EOPNOTSUPP, Errno::EINVAL, Errno::ENOSYS, Errno::EBADF].freeze

    class << self
      # Calls the block in the turn of this process. Where there are no locks, or another program keeps its lock, the
      # block is called all the same.
      def take(directory)
        file = open(directory)
        wait_for(file) if file
        yield
      ensure
        file&.close
      end

      # Locks the open file. Returns false if another process has that lock; nil where there are no locks.
      def lock(file, kind)
        file.flock(kind | File::LOCK_NB)
      rescue *NO_LOCKS
        nil
      end

      private

      # nil where a directory can't be opened (JRuby, no permission).
      def open(directory)
        File.open(directory)
      rescue SystemCallError, IOError
        nil
      end

      def wait_for(file)
        deadline = Cuttle.now + PATIENCE
        sleep 0.01 while lock(file, File::LOCK_EX) == false && Cuttle.now < deadline
      end
    end
  end
end
