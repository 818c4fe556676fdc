# frozen_string_literal: true

require "socket"
require "uri"

module Cuttle
  module Load
    # The target of the load: http://host:port/path, https://…, or unix:///socket:/path.
    class Target
      attr_reader :url, :host, :port, :path

      # Raises UsageError if +url+ is not valid.
      def initialize(url)
        @url = url.to_s
        @url.start_with?("unix:") ? split_unix : split_http
      end

      def tls?
        @scheme == "https"
      end

      def unix?
        @scheme == "unix"
      end

      # The Host field.
      def authority
        return "localhost" if unix?

        name = host.include?(":") ? "[#{host}]" : host
        port == (tls? ? 443 : 80) ? name : "#{name}:#{port}"
      end

      # The beginning of an absolute URL on this server.
      def origin
        "#{tls? ? "https" : "http"}://#{authority}"
      end

      def to_s
        url
      end

      # A packed socket address of the server, to which this method has just connected. Raises Failure.
      def address(timeout: 5)
        addresses = unix? ? [Addrinfo.unix(@socket)] : resolve
        refused = nil
        addresses.each do |address|
          address.connect(timeout: timeout, &:itself)
          return address.to_sockaddr
        rescue Errno::EAGAIN # a Unix socket whose backlog is full
          return address.to_sockaddr
        rescue SystemCallError => error
          refused = error
        end
        raise Failure, "#{place}: #{Load.reason(refused)}"
      end

      private

      def place
        unix? ? @socket : "#{host}:#{port}"
      end

      def resolve
        Addrinfo.getaddrinfo(host, port, nil, :STREAM)
      rescue SocketError
        raise Failure, "#{host}: the name can't be resolved"
      end

      def split_unix
        match = %r{\Aunix://(/[^:]+)(?::(/.*))?\z}.match(url) or
          raise UsageError, "URL: unix:///path/of/socket:/path, not #{url.inspect}"
        @scheme = "unix"
        @socket = match[1]
        @path = match[2] || "/"
        @host = "localhost"
        raise UsageError, "URL: #{@socket} is too long for a Unix socket" if @socket.bytesize > 107
      end

      def split_http
        uri = URI.parse(url.match?(%r{\A[^/?]*://}) ? url : "http://#{url}")
        raise UsageError, "URL: http, https or unix, not #{uri.scheme}" unless uri.is_a?(URI::HTTP)
        raise UsageError, "URL: no host in #{url.inspect}" if uri.hostname.to_s.empty?
        raise UsageError, "URL: it must not have a user; use -H 'Authorization: …'" if uri.userinfo

        @scheme = uri.scheme
        @host = uri.hostname
        @port = uri.port
        @path = uri.request_uri
      rescue URI::InvalidURIError
        raise UsageError, "URL: #{url.inspect} is not valid"
      end
    end
  end
end
