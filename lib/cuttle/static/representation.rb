# frozen_string_literal: true

module Cuttle
  class Static
    # What a response says about a file, in one of its forms and one of its states. Immutable, and a function of the
    # file's status alone, so that it may be kept for as long as the status is the same.
    #
    # The entity tag is of the file's inode, length and change time, and is strong: octets that differ have another
    # tag. A kernel's clock ticks, though, so that a file which has just been changed might change again under the same
    # tag; until its last change is two seconds old the tag is a weak one, which serves caches and forbids to piece
    # parts together.
    class Representation
      # name:: of the file below the root; entry:: a Beneath::Entry, closed perhaps: the state described;
      # etag:: with its quotes; modified:: seconds since 1970; headers:: of a 200, frozen
      attr_reader :name, :entry, :etag, :modified, :headers

      # +type+ is the Content-Type. +varies+: the file has, or may get, forms in several codings. +coding+: this one's.
      def initialize(name, entry, type:, varies: false, coding: nil)
        @name = name
        @entry = entry
        @settled = entry.settled?
        @modified = entry.modified
        @etag = "#{"W/" unless @settled}\"#{entry.stamp}#{"-#{coding}" if coding}\""
        @varies = varies
        @headers = headers_of(type, coding)
      end

      # Whether the file may not change without another tag, and the description be kept.
      def settled?
        @settled
      end
      alias strong? settled?

      def varies?
        @varies
      end

      def size
        @entry.size
      end

      # What a 304 repeats (RFC 9110, 15.4.5).
      def not_modified_headers
        headers.slice("etag", "vary")
      end

      private

      def headers_of(type, coding)
        headers = { "content-type" => type, "last-modified" => HttpDate.format(@modified), "etag" => @etag,
                    "accept-ranges" => "bytes" }
        headers["vary"] = "accept-encoding" if @varies
        headers["content-encoding"] = coding if coding
        headers.each_value(&:freeze).freeze
      end
    end
  end
end
