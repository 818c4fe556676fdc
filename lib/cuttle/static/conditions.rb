# frozen_string_literal: true

module Cuttle
  class Static
    # A request's preconditions against what would be sent, in the order of RFC 9110, 13.2.2.
    module Conditions
      # 412 where the client's idea of the file is wrong, 304 where the client has it already, nil to go on.
      def self.status(connection, representation)
        failed_status(connection, representation) || known_status(connection, representation)
      end

      # If-Range: whether the part that the client asks for belongs to what it has; strong validators only (13.1.5).
      def self.range?(connection, representation)
        validator = connection.header("if-range") or return true
        return false unless representation.strong?
        return validator == representation.etag if validator.include?('"')

        HttpDate.parse(validator) == representation.modified
      end

      def self.failed_status(connection, representation)
        if (tags = connection.header("if-match"))
          412 unless ETag.strongly_listed?(tags, representation.etag)
        elsif (date = connection.header("if-unmodified-since"))
          412 if (time = HttpDate.parse(date)) && representation.modified > time
        end
      end

      def self.known_status(connection, representation)
        if (tags = connection.header("if-none-match"))
          304 if ETag.listed?(tags, representation.etag)
        elsif (date = connection.header("if-modified-since"))
          304 if (time = HttpDate.parse(date)) && representation.modified <= time
        end
      end
      private_class_method :failed_status, :known_status
    end
  end
end
