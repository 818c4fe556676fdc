# frozen_string_literal: true

module Cuttle
  class Static
    # The header fields of a response for a file, in one form and one state of the file. Immutable, and a function of
    # the file's status alone, so it may be kept as long as the status is the same.
    #
    # The entity tag is made of the file's inode, length and change time. It is strong: different octets have a
    # different tag. But the kernel's clock has ticks, so a file that was just changed may change again under the same
    # tag. The tag is therefore weak until the last change is two seconds old. A weak tag works for caches and forbids
    # combining parts.
    class Representation
      # name::     of the file below the root
      # entry::    a Beneath::Entry, possibly closed: the state that is described
      # etag::     with its quotes
      # modified:: seconds since 1970
      # headers::  of a 200, frozen
      attr_reader :name, :entry, :etag, :modified, :headers

      # +type+ is the Content-Type. +varies+: the file has, or may get, forms in several codings. +coding+ is the coding
      # of this form.
      def initialize(name, entry, type:, varies: false, coding: nil)
        @name = name
        @entry = entry
        @settled = entry.settled?
        @modified = entry.modified
        @etag = "#{"W/" unless @settled}\"#{entry.stamp}#{"-#{coding}" if coding}\""
        @varies = varies
        @headers = headers_of(type, coding)
      end

      # Whether every change of the file changes its tag, so that the description may be kept.
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

      # The fields that a 304 repeats (RFC 9110, 15.4.5).
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
