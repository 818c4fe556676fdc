# frozen_string_literal: true

module Cuttle
  class Static
    # From a request's path to the name of a file below the root. Percent-encoding is undone exactly once, and what
    # could be read in two ways has no name: then no later step has anything left to interpret.
    module Path
      # Broken encoding, or a NUL: no file and no directory is called that.
      MALFORMED = /%(?!\h\h)|%00|\0/n

      # A separator that hides in a segment.
      HIDDEN = /%2f|%5c|\\/in

      # Segments that are neither empty nor begin with a dot (".", "..", ".git"); the last may be empty: a directory.
      NAMES = %r{\A(?:[^/.][^/]*+/)*+(?:[^/.][^/]*+)?\z}n

      # "/caf%C3%A9/" → "café/" (binary), "/" → ""; nil where no file may be served by that path.
      # An absolute-form target may have no path, and means "/" then (RFC 9110, 4.2.3).
      def self.decode(path)
        return "" if path.empty?
        return if !path.start_with?("/") || MALFORMED.match?(path) || HIDDEN.match?(path)

        name = path.byteslice(1..).b
        name.gsub!(/%(\h\h)/n) { $1.hex.chr }
        name if NAMES.match?(name)
      end

      # Whether the path is broken, rather than one of a file that isn't there.
      def self.malformed?(path)
        MALFORMED.match?(path)
      end
    end
  end
end
