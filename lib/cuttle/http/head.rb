# frozen_string_literal: true

module Cuttle
  module Http
    # The head of a request, as every parser returns it. Strings are binary, and the caller owns them.
    #
    # fields::         [[name, value], …] in order of arrival; names as sent, values without surrounding white space
    # target::         the request target as sent; +path+ and +query+ (nil without a "?") are its parts
    # host, port::     of the authority that applies (RFC 9112, 3.2.2: the target's before the Host field's);
    #                  port "" if none was sent, host nil on HTTP/1.0 without a Host
    # minor::          0 or 1, of HTTP/1.x
    # content_length:: octets of the body that follows; nil if it is chunked
    # chunked::        the body comes in the chunked coding (RFC 9112, 7.1)
    # keep_alive::     the client allows the connection to persist (RFC 9112, 9.3)
    # expect_continue:: the client waits for a 100 (RFC 9110, 10.1.1); never true on HTTP/1.0
    # bytesize::       octets of input that the head took
    Head = Struct.new(:http_method, :target, :path, :query, :host, :port, :minor, :fields, :content_length, :chunked,
                      :keep_alive, :expect_continue, :bytesize, keyword_init: true)

    # The peer violated the protocol. +status+ is the status to send before closing the connection.
    class ParseError < StandardError
      attr_reader :status

      def initialize(message, status: 400)
        super(message)
        @status = status
      end
    end
  end
end
