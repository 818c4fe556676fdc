# frozen_string_literal: true

module Cuttle
  class Static
    # Entity tags in conditions (RFC 9110, 8.8.3).
    module ETag
      TAG = %r{(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"}n

      # Whether +field+ (If-None-Match) lists +etag+. Weak and strong tags match; "*" matches any tag.
      def self.listed?(field, etag)
        field == etag || field == "*" || field.scan(TAG).any? { |tag| opaque(tag) == opaque(etag) }
      end

      # Whether +field+ (If-Match) lists +etag+. Both must be strong.
      def self.strongly_listed?(field, etag)
        return true if field == "*"

        strong?(etag) && field.scan(TAG).include?(etag)
      end

      def self.strong?(etag)
        !etag.start_with?("W/")
      end

      def self.opaque(etag)
        etag.delete_prefix("W/")
      end
      private_class_method :opaque
    end
  end
end
