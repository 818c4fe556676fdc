# frozen_string_literal: true

module Cuttle
  module Load
    # One request, as the octets to send. expect: the right status (nil: any below 400). weight: its share in a mix.
    # name: the name for its figures. check: requirements for its response's body (see Pattern.read). take: { name =>
    # expression with one group }, values to take from the body for other requests (see Script).
    class Request
      autoload :Checks, "cuttle/load/request/checks"
      include Checks

      BODIED = %w[POST PUT PATCH].freeze
      PARTS = %w[method path headers body expect weight name check take].freeze
      OPTIONAL = %w[name check take].freeze # in a report

      attr_reader :method, :path, :headers, :body, :expect, :weight, :check, :take

      # headers: [[name, value], …]. Raises UsageError.
      def initialize(method: "GET", path: "/", headers: [], body: nil, expect: nil, weight: 1, name: nil, check: [],
                     take: {})
        @method = method
        @path = path
        @headers = headers.map { |field, value| [field.to_s, value.to_s] }
        @body = octets_of(body)
        @expect = expect
        @weight = weight
        @name = name
        @check = Array(check)
        @take = take
        validate
        freeze
      end

      # By default "GET /path".
      def name
        @name || "#{method} #{path}"
      end

      # The same request with other parts.
      def with(**changes)
        Request.new(**parts, **changes)
      end

      # The octets. +host+: the value of the Host field unless the request has one. +close+: asks the server to close
      # afterwards.
      def octets(host, close: false)
        head(host, close: close).b << body.to_s
      end

      # The octets before the body.
      def head(host, close:, path: self.path, length: body.to_s.bytesize)
        lines = ["#{method} #{path} HTTP/1.1"]
        lines << "Host: #{host}" unless field?("host")
        lines.concat(headers.map { |field, value| "#{field}: #{value}" })
        lines << "Connection: close" if close && !field?("connection")
        lines << "Content-Length: #{length}" if length_needed?
        "#{lines.join("\r\n")}\r\n\r\n"
      end

      def head?
        method == "HEAD"
      end

      # The Patterns of check.
      def checks
        check.map { |text| Pattern.read(text) }
      end

      # { name => Pattern } of take.
      def takes
        take.transform_values { |expression| Pattern.expression(expression) }
      end

      # The request's description for a report.
      def summary
        said = { "name" => @name, "method" => method, "path" => path, "weight" => weight, "expect" => expect,
                 "check" => check, "take" => take }
        said.reject { |key, value| OPTIONAL.include?(key) && (value.nil? || value.empty?) }
      end

      # The request as JSON for another generator, with the body as base64.
      def to_h
        parts.transform_keys(&:to_s).merge("body" => body && [body].pack("m0"))
      end

      def self.load(hash)
        new(**hash.slice(*PARTS).transform_keys(&:to_sym), body: hash["body"]&.unpack1("m0"))
      end

      private

      def parts
        { method: method, path: path, headers: headers, body: body, expect: expect, weight: weight, name: @name,
          check: check, take: take }
      end

      def field?(wanted)
        headers.any? { |name,| name.casecmp?(wanted) }
      end

      def length_needed?
        (body || BODIED.include?(method)) && !field?("content-length") && !field?("transfer-encoding")
      end
    end
  end
end
