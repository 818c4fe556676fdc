# frozen_string_literal: true

module Cuttle
  class Static
    # Evaluates a request's preconditions for the representation, in the order of RFC 9110, 13.2.2.
    module Conditions
      # 412 if the client has the wrong state of the file, 304 if the client has the file already, nil to continue.
      def self.status(exchange, representation)
        failed_status(exchange, representation) || known_status(exchange, representation)
      end

      # If-Range: whether the requested part belongs to the state that the client has. Strong validators only (13.1.5).
      def self.range?(exchange, representation)
        validator = exchange.header("if-range") or return true
        return false unless representation.strong?
        return validator == representation.etag if validator.include?('"')

        HttpDate.parse(validator) == representation.modified
      end

      def self.failed_status(exchange, representation)
        if (tags = exchange.header("if-match"))
          412 unless ETag.strongly_listed?(tags, representation.etag)
        elsif (date = exchange.header("if-unmodified-since"))
          412 if (time = HttpDate.parse(date)) && representation.modified > time
        end
      end

      def self.known_status(exchange, representation)
        if (tags = exchange.header("if-none-match"))
          304 if ETag.listed?(tags, representation.etag)
        elsif (date = exchange.header("if-modified-since"))
          304 if (time = HttpDate.parse(date)) && representation.modified <= time
        end
      end
      private_class_method :failed_status, :known_status
    end
  end
end
