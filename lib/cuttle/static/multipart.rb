# frozen_string_literal: true

require "securerandom"

module Cuttle
  class Static
    # A response with several ranges: multipart/byteranges (RFC 9110, 14.6).
    module Multipart
      # The limit of all parts together, in octets. They stay in memory, because a client may read slowly.
      MAX = 1 << 20

      # Whether the parts are within the limit.
      def self.fits?(ranges)
        ranges.sum(&:size) <= MAX
      end

      # The headers of the response and the Strings of its body; nil if the file has become shorter.
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
