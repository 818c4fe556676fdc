# frozen_string_literal: true

module Cuttle
  class Static
    # Turns the path of a request into the name of a file below the root. Percent-encoding is decoded exactly once. A
    # path that could be read in two ways has no name. So no later step has anything left to interpret.
    module Path
      # Broken encoding, or a NUL: no file and no directory has such a name.
      MALFORMED = /%(?!\h\h)|%00|\0/n

      # A separator that is hidden in a segment.
      HIDDEN = /%2f|%5c|\\/in

      # Segments that are not empty and don't begin with a dot (".", "..", ".git"). The last may be empty: a directory.
      NAMES = %r{\A(?:[^/.][^/]*+/)*+(?:[^/.][^/]*+)?\z}n

      # "/caf%C3%A9/" → "café/" (binary), "/" → ""; nil if no file may be served under that path. An absolute-form
      # target may have no path, and then means "/" (RFC 9110, 4.2.3).
      def self.decode(path)
        return "" if path.empty?
        return if !path.start_with?("/") || MALFORMED.match?(path) || HIDDEN.match?(path)

        name = path.byteslice(1..).b
        name.gsub!(/%(\h\h)/n) { $1.hex.chr }
        name if NAMES.match?(name)
      end

      # Whether the path is malformed, not only the path of a missing file.
      def self.malformed?(path)
        MALFORMED.match?(path)
      end
    end
  end
end
