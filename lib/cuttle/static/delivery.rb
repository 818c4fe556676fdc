# frozen_string_literal: true

module Cuttle
  class Static
    # Answers a request with an open file: 200, 206, 304, 412 or 416.
    module Delivery
      # A file of up to this many octets is sent in one write with its head. A longer file is sent with sendfile.
      SMALL = 16_384

      # Afterwards the exchange owns +entry+, or +entry+ is still open.
      def self.call(exchange, entry, representation)
        status = Conditions.status(exchange, representation)
        return refuse(exchange, status, representation) if status

        ranges = ranges(exchange, representation)
        return whole(exchange, entry, representation) unless ranges
        return unsatisfiable(exchange, representation) if ranges.empty?
        return part(exchange, entry, representation, ranges.first) if ranges.one?

        parts(exchange, entry, representation, ranges)
      end

      def self.refuse(exchange, status, representation)
        return exchange.respond(304, representation.not_modified_headers, []) if status == 304

        Answers.text(exchange, status)
      end

      # Only GET has ranges (RFC 9110, 14.2).
      def self.ranges(exchange, representation)
        field = exchange.header("range") or return
        return if exchange.head? || !Conditions.range?(exchange, representation)

        Ranges.parse(field, representation.size)
      end

      def self.whole(exchange, entry, representation)
        return head(exchange, representation) if exchange.head?

        send_octets(exchange, 200, representation.headers, entry, 0, representation.size)
      end

      # Sends the length that GET would have, because an empty body doesn't show it.
      def self.head(exchange, representation)
        exchange.respond(200, representation.headers.merge("content-length" => representation.size.to_s), [])
      end

      def self.part(exchange, entry, representation, range)
        headers = representation.headers.merge(
          "content-range" => "bytes #{range.begin}-#{range.end}/#{representation.size}"
        )
        send_octets(exchange, 206, headers, entry, range.begin, range.size)
      end

      def self.parts(exchange, entry, representation, ranges)
        headers, parts = Multipart.build(entry, representation, ranges) if Multipart.fits?(ranges)
        return whole(exchange, entry, representation) unless parts

        exchange.respond(206, headers, parts)
      end

      def self.unsatisfiable(exchange, representation)
        Answers.text(exchange, 416, "content-range" => "bytes */#{representation.size}")
      end

      # If a file has become shorter since it was opened, #send_file closes the connection instead of ending a message
      # early.
      def self.send_octets(exchange, status, headers, entry, offset, length)
        if length <= SMALL
          content = entry.read(offset, length)
          return exchange.respond(status, headers, [content]) if content.bytesize == length
        end
        exchange.send_file(status, headers, entry.hand_over, offset, length)
      end
      private_class_method :refuse, :ranges, :whole, :head, :part, :parts, :unsatisfiable, :send_octets
    end
  end
end
