# frozen_string_literal: true

module Cuttle
  class Static
    # The files below the root, by request path. Every call opens the file again. Only descriptions of files are kept
    # between calls, and a description is valid for one state of the file.
    class Tree
      KEPT = 1024     # descriptions of each of the two kinds
      KEPT_PATH = 256 # octets; a longer path is described each time

      def initialize(beneath, types, index)
        @beneath = beneath
        @types = types
        @index = index
        @known = {} # path => Representation
        @coded = {} # name of a coded form => Representation
        @lock = Mutex.new
      end

      # Opens the file that +path+ (as sent) names, yields its Beneath::Entry and Representation, and closes the file
      # unless it was handed over. Returns the block's value, nil if there is no file, :directory if there is a
      # directory. Raises SystemCallError when the server is at its limits.
      def open(path)
        known = known(@known, path)
        name = known ? known.name : name_of(path)
        entry = name && @beneath.open(name) or return
        return :directory if entry.directory?

        known = keep(@known, path, describe(name, entry)) unless known && known.entry == entry
        yield entry, known
      ensure
        entry&.close
      end

      # The same for the form of +plain+ in +coding+. Also returns nil if that form is older than the plain file, and so
      # outdated.
      def open_coded(plain, coding)
        name = plain.name + Encodings::SUFFIXES.fetch(coding)
        entry = @beneath.open(name) or return
        return if entry.directory? || entry.modified < plain.modified

        known = known(@coded, name)
        known = keep(@coded, name, describe(name, entry, plain, coding)) unless known && known.entry == entry
        yield entry, known
      ensure
        entry&.close
      end

      # Whether the directory at +path+ has an index file.
      def index?(path)
        open("#{path}/") { true } == true
      end

      private

      def known(kept, key)
        @lock.synchronize { kept[key] }
      end

      def name_of(path)
        name = Path.decode(path) or return
        return name unless name.empty? || name.end_with?("/")

        name + @index if @index
      end

      def describe(name, entry, plain = nil, coding = nil)
        type = plain ? plain.headers["content-type"] : @types.of(name)
        Representation.new(name, entry, type: type, varies: @types.varies?(type), coding: coding)
      end

      def keep(kept, key, representation)
        return representation unless representation.settled? && key.bytesize <= KEPT_PATH

        @lock.synchronize do
          kept.shift if kept.size >= KEPT && !kept.key?(key)
          kept[key] = representation
        end
      end
    end
  end
end
