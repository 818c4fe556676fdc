# frozen_string_literal: true

require "json"

module Cuttle
  module Load
    # A mix of requests from a file with one JSON object per line:
    #
    #   {"path": "/", "weight": 9}
    #   {"method": "POST", "path": "/posts", "headers": {"Content-Type": "text/plain"}, "body": "hello", "status": 201}
    #
    # body_file names a file to use as the body, relative to the mix's file. check and take specify requirements for the
    # response (see Request). Empty lines and lines that begin with # are ignored.
    module Mix
      KEYS = %w[name method path headers body body_file status weight check take].freeze

      module_function

      # The Requests in the file at +path+. Raises UsageError with the file and the line.
      def read(path)
        requests = File.foreach(path, encoding: "BOM|UTF-8").with_index(1).filter_map do |line, number|
          next if line.b.match?(/\A\s*(#|\z)/)

          parse(line, path, number)
        end
        raise UsageError, "--mix: #{path}: no requests in it" if requests.empty?

        requests
      rescue SystemCallError => error
        raise UsageError, "--mix: #{path}: #{Load.reason(error)}"
      end

      def parse(line, path, number)
        raise UsageError, "not UTF-8" unless line.valid_encoding?

        hash = JSON.parse(line)
        raise UsageError, "a JSON object, not #{hash.class}" unless hash.is_a?(Hash)

        unknown = hash.keys - KEYS
        raise UsageError, "no key #{unknown.first.inspect} (#{KEYS.join(", ")})" if unknown.any?

        request(hash, File.dirname(path))
      rescue JSON::ParserError
        raise UsageError, "--mix: #{path}:#{number}: not JSON"
      rescue UsageError => error
        raise UsageError, "--mix: #{path}:#{number}: #{error.message}"
      end

      def request(hash, directory)
        Request.new(
          method: hash.fetch("method", "GET"), path: hash.fetch("path", "/"), headers: headers(hash["headers"]),
          body: body(hash, directory), expect: hash["status"], weight: hash.fetch("weight", 1), name: hash["name"],
          check: hash.fetch("check", []), take: hash.fetch("take", {})
        )
      end

      # headers: a Hash, whose values may be Arrays, or an Array of pairs.
      def headers(headers)
        case headers
        when nil then []
        when Hash then headers.flat_map { |name, values| Array(values).map { |value| [name, value] } }
        when Array then headers
        else raise UsageError, "headers: an object, not #{headers.class}"
        end
      end

      def body(hash, directory)
        body, file = hash.values_at("body", "body_file")
        return body if file.nil?
        raise UsageError, "body or body_file, not both" unless body.nil?
        raise UsageError, "body_file: a name, not #{file.inspect}" unless file.is_a?(String)

        File.binread(File.expand_path(file, directory))
      rescue SystemCallError => error
        raise UsageError, "body_file: #{file}: #{Load.reason(error)}"
      rescue ArgumentError => error # NUL, or ~ and no such user
        raise UsageError, "body_file: #{file.inspect}: #{error.message}"
      end
    end
  end
end
