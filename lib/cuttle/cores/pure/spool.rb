# frozen_string_literal: true

require "tempfile"

module Cuttle
  module Cores
    module Pure
      # Temporary files for large bodies: unlinked at once, and counted together against a limit. For any thread.
      class Spool
        QUIET = 60.0 # seconds between two reports of the limit

        # The limit is reached.
        class Full < StandardError; end

        attr_reader :used

        def initialize(directory, most)
          @directory = directory || Dir.tmpdir
          @most = most
          @used = 0
          @lock = Mutex.new
        end

        # Raises Full if so many octets could not be charged now.
        def check(octets)
          @lock.synchronize { demand(octets) }
        end

        # A new file without a name. Raises SystemCallError.
        def open
          file = Tempfile.create("cuttle", @directory, mode: File::RDWR | File::EXCL, perm: 0o600, binmode: true)
          File.unlink(file.path)
          file.sync = true # so that a write fails, and not what comes after it
          file
        end

        # Counts octets before they are written. Raises Full.
        def charge(octets)
          @lock.synchronize do
            demand(octets)
            @used += octets
          end
        end

        # The block returns the octets, under the lock.
        def discharge
          @lock.synchronize { @used -= yield }
        end

        # Octets were written.
        def note_success
          @lock.synchronize { @ails = false }
        end

        # What to report of an error, in words; nil if it is no news. The limit is news once a minute, the disk when it
        # fails for the first time since it took octets.
        def news_of(error)
          @lock.synchronize { error.is_a?(Full) ? news_of_limit(error) : news_of_disk(error) }
        end

        private

        # Raises Full without room for so many octets.
        def demand(octets)
          return if !@most || @used + octets <= @most

          raise Full, "temporary files have reached their limit of #{@most} octets (--max-spool)"
        end

        def news_of_limit(error)
          now = Cuttle.now
          return if @quiet_until && now < @quiet_until

          @quiet_until = now + QUIET
          error.message
        end

        def news_of_disk(error)
          return if @ails

          @ails = true
          "temporary files in #{@directory} can't be written (#{SystemCallError.new(nil, error.errno).message})"
        end
      end
    end
  end
end
