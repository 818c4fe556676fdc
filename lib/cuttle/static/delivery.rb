# frozen_string_literal: true

module Cuttle
  class Static
    # Answers a request with an open file: 200, 206, 304, 412 or 416.
    module Delivery
      # A file of up to so many octets leaves in one write with its head; a longer one by sendfile.
      SMALL = 16_384

      # +entry+ is handed over to the connection, or still open afterwards.
      def self.call(connection, entry, representation)
        status = Conditions.status(connection, representation)
        return refuse(connection, status, representation) if status

        ranges = ranges(connection, representation)
        return whole(connection, entry, representation) unless ranges
        return unsatisfiable(connection, representation) if ranges.empty?
        return part(connection, entry, representation, ranges.first) if ranges.one?

        parts(connection, entry, representation, ranges)
      end

      def self.refuse(connection, status, representation)
        return connection.respond(304, representation.not_modified_headers, []) if status == 304

        Answers.text(connection, status)
      end

      # Only GET has ranges (RFC 9110, 14.2).
      def self.ranges(connection, representation)
        field = connection.header("range") or return
        return if connection.head? || !Conditions.range?(connection, representation)

        Ranges.parse(field, representation.size)
      end

      def self.whole(connection, entry, representation)
        return head(connection, representation) if connection.head?

        send_octets(connection, 200, representation.headers, entry, 0, representation.size)
      end

      # The length that GET would have, which a body of nothing doesn't tell.
      def self.head(connection, representation)
        connection.respond(200, representation.headers.merge("content-length" => representation.size.to_s), [])
      end

      def self.part(connection, entry, representation, range)
        headers = representation.headers.merge(
          "content-range" => "bytes #{range.begin}-#{range.end}/#{representation.size}"
        )
        send_octets(connection, 206, headers, entry, range.begin, range.size)
      end

      def self.parts(connection, entry, representation, ranges)
        headers, parts = Multipart.build(entry, representation, ranges) if Multipart.fits?(ranges)
        return whole(connection, entry, representation) unless parts

        connection.respond(206, headers, parts)
      end

      def self.unsatisfiable(connection, representation)
        Answers.text(connection, 416, "content-range" => "bytes */#{representation.size}")
      end

      # A file that has become shorter since it was opened is left to #send_file, which breaks the connection off
      # rather than end a message early.
      def self.send_octets(connection, status, headers, entry, offset, length)
        if length <= SMALL
          content = entry.read(offset, length)
          return connection.respond(status, headers, [content]) if content.bytesize == length
        end
        connection.send_file(status, headers, entry.hand_over, offset, length)
      end
      private_class_method :refuse, :ranges, :whole, :head, :part, :parts, :unsatisfiable, :send_octets
    end
  end
end
