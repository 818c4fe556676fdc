# frozen_string_literal: true

module Cuttle
  module Load
    # One request, as the octets that are sent. expect: the status that is right (nil: any below 400); weight: its share
    # in a mix; name: what its figures are under.
    class Request
      TOKEN = /\A[!#$%&'*+\-.^_`|~0-9A-Za-z]+\z/
      VALUE = /\A[^\0\r\n]*\z/n
      PATH = %r{\A(?:/[!-~]*|\*)\z}
      BODIED = %w[POST PUT PATCH].freeze

      attr_reader :method, :path, :headers, :body, :expect, :weight

      # headers: [[name, value], …]. Raises UsageError.
      def initialize(method: "GET", path: "/", headers: [], body: nil, expect: nil, weight: 1, name: nil)
        @method = method
        @path = path
        @headers = headers.map { |name, value| [name.to_s, value.to_s] }
        @body = body&.b
        @expect = expect
        @weight = weight
        @name = name
        check
        freeze
      end

      # By default "GET /path".
      def name
        @name || "#{method} #{path}"
      end

      # The same request with other parts.
      def with(**changes)
        own = { method: method, path: path, headers: headers, body: body, expect: expect, weight: weight, name: @name }
        Request.new(**own, **changes)
      end

      # +host+: the Host field unless there is one; +close+: ask the server to close afterwards.
      def octets(host, close: false)
        lines = ["#{method} #{path} HTTP/1.1"]
        lines << "Host: #{host}" unless field?("host")
        lines.concat(headers.map { |name, value| "#{name}: #{value}" })
        lines << "Connection: close" if close && !field?("connection")
        lines << "Content-Length: #{body.to_s.bytesize}" if length_needed?
        "#{lines.join("\r\n")}\r\n\r\n".b << body.to_s
      end

      def head?
        method == "HEAD"
      end

      # For another generator: JSON, the body as base64.
      def to_h
        { "method" => method, "path" => path, "headers" => headers, "body" => body && [body].pack("m0"),
          "expect" => expect, "weight" => weight, **({ "name" => @name } if @name) }
      end

      def self.load(hash)
        new(method: hash["method"], path: hash["path"], headers: hash["headers"],
            body: hash["body"]&.unpack1("m0"), expect: hash["expect"], weight: hash["weight"], name: hash["name"])
      end

      private

      def field?(wanted)
        headers.any? { |name,| name.casecmp?(wanted) }
      end

      def length_needed?
        (body || BODIED.include?(method)) && !field?("content-length") && !field?("transfer-encoding")
      end

      def check
        unless method.is_a?(String) && TOKEN.match?(method)
          raise UsageError, "method: a token such as GET, not #{method.inspect}"
        end
        raise UsageError, "method: CONNECT makes a tunnel, which is no load" if method == "CONNECT"
        unless path.is_a?(String) && PATH.match?(path)
          raise UsageError, "path: begins with / and has neither spaces nor octets that need escaping: #{path.inspect}"
        end
        unless expect.nil? || (expect.is_a?(Integer) && expect.between?(200, 599))
          raise UsageError, "expected status: 200 to 599, not #{expect.inspect}"
        end
        raise UsageError, "weight: above 0, not #{weight.inspect}" unless weight.is_a?(Numeric) && weight.positive?

        unless @name.nil? || (@name.is_a?(String) && !@name.strip.empty?)
          raise UsageError, "name: a text, not #{@name.inspect}"
        end

        headers.each { |name, value| check_field(name, value) }
      end

      def check_field(name, value)
        raise UsageError, "header: a name such as Accept, not #{name.inspect}" unless TOKEN.match?(name)
        raise UsageError, "header #{name}: no CR, LF or NUL in a value" unless VALUE.match?(value.b)
      end
    end
  end
end
