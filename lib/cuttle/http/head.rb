# frozen_string_literal: true

module Cuttle
  module Http
    # A request's head, as every parser hands it out. Strings are binary, and the caller's to keep.
    #
    # fields::         [[name, value], …] in order of arrival; names as sent, values without surrounding white space
    # target::         the request target as sent; +path+ and +query+ (nil without a "?") are its parts
    # host, port::     of the authority that applies (RFC 9112, 3.2.2: the target's before the Host field's);
    #                  port "" where none was sent, host nil on HTTP/1.0 without a Host
    # minor::          0 or 1, of HTTP/1.x
    # content_length:: octets of the body to come; nil where it is chunked
    # chunked::        the body comes in the chunked coding (RFC 9112, 7.1)
    # keep_alive::     the client lets the connection persist (RFC 9112, 9.3)
    # expect_continue:: the client awaits a 100 (RFC 9110, 10.1.1); never true on HTTP/1.0
    # bytesize::       octets of input that the head took
    Head = Struct.new(:http_method, :target, :path, :query, :host, :port, :minor, :fields, :content_length, :chunked,
                      :keep_alive, :expect_continue, :bytesize, keyword_init: true)

    # The peer broke the protocol. +status+ is what to answer before closing the connection.
    class ParseError < StandardError
      attr_reader :status

      def initialize(message, status: 400)
        super(message)
        @status = status
      end
    end
  end
end
