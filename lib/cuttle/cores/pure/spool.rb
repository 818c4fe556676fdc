# frozen_string_literal: true

require "tempfile"

module Cuttle
  module Cores
    module Pure
      # Temporary files for large bodies: unlinked at once, and counted together against a limit.
      class Spool
        # The disk has no room, or the limit is reached.
        class Full < StandardError; end

        attr_reader :used

        def initialize(directory, most)
          @directory = directory || Dir.tmpdir
          @most = most
          @used = 0
          @lock = Mutex.new
        end

        def room?(octets)
          !@most || @used + octets <= @most
        end

        # A new file without a name. Raises SystemCallError.
        def open
          file = Tempfile.create("cuttle", @directory, mode: File::RDWR | File::EXCL, perm: 0o600, binmode: true)
          File.unlink(file.path)
          file
        end

        # Counts octets before they are written. Raises Full.
        def charge(octets)
          @lock.synchronize do
            raise Full, "temporary files have reached their limit of #{@most} octets (--max-spool)" unless room?(octets)

            @used += octets
          end
        end

        # The block returns the octets, under the lock.
        def discharge
          @lock.synchronize { @used -= yield }
        end
      end
    end
  end
end
