# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # Opens files below a directory, and nothing outside it: ".." ends at the root, and a link may lead anywhere below
      # the root but must be relative.
      class Beneath
        LINKS = 40
        FAILURES = [Errno::EMFILE, Errno::ENFILE, Errno::ENOMEM, Errno::EIO, Errno::EAGAIN, Errno::ESTALE].freeze
        OPEN = File::RDONLY | File::NONBLOCK | File::NOFOLLOW | File::NOCTTY

        # An open file, or a directory, as it was when it was opened.
        class Entry
          MOST = (2**62) - 1 # octets of a part
          SETTLED_AFTER = 2 # seconds: a younger file may change again without a new time stamp

          attr_reader :status

          def initialize(file, status)
            @file = file
            @status = status
          end

          def directory?
            status.directory?
          end

          # The file's octets when it was opened.
          def size
            status.size
          end

          # When the content was last changed: seconds since 1970, never later than now.
          def modified
            [status.mtime.to_i, Time.now.to_i].min
          end

          # Identifies the file's state, as hexadecimal digits and "-".
          def stamp
            changed = status.ctime
            numbers = [status.ino, status.size, changed.to_i * 1_000_000_000 + changed.nsec]
            numbers.map { |number| number.to_s(16) }.join("-")
          end

          # Whether the last change is old enough that another one would change the stamp.
          def settled?
            Time.now.to_i - [status.ctime, status.mtime].max.to_i > SETTLED_AFTER
          end

          def ==(other)
            other.is_a?(Entry) && identity == other.identity
          end

          # That part of the file, binary; shorter if the file ends earlier. Raises IOError if the file is not open.
          def read(offset, length)
            raise RangeError, "no part of a file" if offset.negative? || length.negative? || length > MOST
            raise IOError, "not an open file" unless @file

            length.zero? ? "".b : @file.pread(length, offset)
          rescue EOFError
            "".b
          end

          # The open file; the caller closes it.
          def hand_over
            raise IOError, "not an open file" unless @file

            @file.tap { @file = nil }
          end

          # Closes the file unless it was handed over.
          def close
            @file&.close
            @file = nil
          end

          protected

          def identity
            [status.ino, status.dev, status.size, status.mode, status.mtime, status.ctime]
          end
        end

        # Linux can name an open directory, so each name is opened in the directory before it. On other systems, a user
        # who can rename directories below the root can, at the right moment, lead a path out of it.
        OPEN_DIRECTORIES = "/proc/self/fd"
        CLIMBS = 64

        # One walk from the root, name by name, never through a link: a link's text is walked in its place. A ".."
        # starts again with one name less, because a directory may be moved out while it is open.
        Walk = Struct.new(:left, :done, :at, :links, :climbs, keyword_init: true)
        private_constant :Walk

        # Raises SystemCallError if +root+ can't be opened. +_portable+: there is only one way here.
        def initialize(root, _portable = true)
          @root = File.realpath(root)
          Dir.open(@root).close
          @named = RUBY_ENGINE == "ruby" && File.directory?(OPEN_DIRECTORIES)
        end

        # How files are opened.
        def way
          :walk
        end

        # Opens the regular file or directory at +path+ (decoded, relative to the root). Returns nil if there is nothing
        # to serve. Raises SystemCallError if the server is at its limits or its disk fails.
        def open(path)
          raise ArgumentError, "Beneath without a root" unless @root
          raise TypeError, "no path: #{path.inspect}" unless path.is_a?(String)
          return if path.empty? || path.include?("\0")

          walk(path)
        rescue *FAILURES
          raise
        rescue SystemCallError
          nil
        end

        private

        def walk(path)
          walk = Walk.new(left: path.split("/", -1), done: [], at: File.open(@root), links: 0, climbs: 0)
          until walk.left.empty?
            name = walk.left.shift
            found = step(walk, name)
            return if found == :outside
            return entry(walk, found) if found
          end
          entry(walk, walk.at)
        ensure
          walk&.at&.close
        end

        # Returns the file that the path leads to, :outside, or nil to go on.
        def step(walk, name)
          return if name.empty? || name == "."
          return climb(walk) if name == ".."

          file = File.open(under(walk, name), OPEN, binmode: true)
          return file if walk.left.empty?

          enter(walk, file, name)
        rescue Errno::ELOOP, Errno::EMLINK
          follow(walk, name)
        end

        def under(walk, name)
          @named ? "#{OPEN_DIRECTORIES}/#{walk.at.fileno}/#{name}" : [@root, *walk.done, name].join("/")
        end

        def enter(walk, file, name)
          unless file.stat.directory?
            file.close
            raise Errno::ENOTDIR
          end
          walk.at.close
          walk.at = file
          walk.done << name
          nil
        end

        def climb(walk)
          return :outside if walk.done.empty? || (walk.climbs += 1) > CLIMBS

          walk.left.unshift(*walk.done[0...-1])
          walk.done.clear
          walk.at.close
          walk.at = File.open(@root)
          nil
        end

        def follow(walk, name)
          target = File.readlink(under(walk, name))
          return :outside if target.start_with?("/") || (walk.links += 1) > LINKS

          walk.left.unshift(*target.split("/"))
          nil
        end

        def entry(walk, file)
          status = file.stat
          return Entry.new(nil, status) if status.directory?
          return Entry.new(file, status) if status.file?

          nil
        ensure
          file.close unless file.equal?(walk.at) || status&.file?
        end
      end
    end
  end
end
