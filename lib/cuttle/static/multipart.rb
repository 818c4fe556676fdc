# frozen_string_literal: true

require "securerandom"

module Cuttle
  class Static
    # A response of several ranges: multipart/byteranges (RFC 9110, 14.6).
    module Multipart
      # All parts together, in octets: they are kept in memory, for a client may take its time to read them.
      MAX = 1 << 20

      # Whether the response may be made.
      def self.fits?(ranges)
        ranges.sum(&:size) <= MAX
      end

      # The response's headers and the Strings of its body; nil where the file has become shorter meanwhile.
      def self.build(entry, representation, ranges)
        boundary = SecureRandom.hex(12)
        parts = ranges.flat_map do |range|
          content = entry.read(range.begin, range.size)
          return if content.bytesize < range.size

          ["\r\n--#{boundary}\r\n#{fields(representation, range)}\r\n", content]
        end
        type = "multipart/byteranges; boundary=#{boundary}"
        [representation.headers.merge("content-type" => type), parts << "\r\n--#{boundary}--\r\n"]
      end

      def self.fields(representation, range)
        "content-type: #{representation.headers["content-type"]}\r\n" \
          "content-range: bytes #{range.begin}-#{range.end}/#{representation.size}\r\n"
      end
      private_class_method :fields
    end
  end
end
