# frozen_string_literal: true

require "json"
require "uri"

module Cuttle
  module Load
    # The requests of a HAR file (HTTP Archive 1.2, as browsers save it), in its order. It leaves out requests to other
    # hosts, and header fields that belong to the browser's connection.
    module Har
      HOP = %w[
        host connection content-length transfer-encoding keep-alive proxy-connection te upgrade http2-settings
      ].freeze

      module_function

      # The Requests for the Target +target+. Raises UsageError.
      def read(path, target)
        entries = JSON.parse(text(path)).dig("log", "entries")
        raise UsageError, "--har: #{path}: no log.entries in it" unless entries.is_a?(Array)

        requests = entries.filter_map { |entry| request(entry["request"], target) }
        raise UsageError, "--har: #{path}: no request to #{target.host} in it" if requests.empty?

        requests
      rescue JSON::ParserError, TypeError, NoMethodError
        raise UsageError, "--har: #{path}: not a HAR file"
      rescue SystemCallError => error
        raise UsageError, "--har: #{path}: #{Load.reason(error)}"
      end

      # The file's text. Some programs begin it with a byte order mark.
      def text(path)
        File.read(path, encoding: "BOM|UTF-8")
      end

      def request(request, target)
        uri = URI(request["url"].to_s)
        return unless uri.host&.casecmp?(target.host)

        Request.new(method: request["method"], path: uri.request_uri, headers: headers(request["headers"] || []),
                    body: body(request["postData"]))
      rescue URI::InvalidURIError
        nil
      end

      def headers(fields)
        fields.map { |field| [field["name"], field["value"]] }
              .reject { |name,| name.start_with?(":") || HOP.include?(name.downcase) }
      end

      def body(post)
        return unless post
        return post["text"] if post["text"]

        URI.encode_www_form(post["params"].map { |field| [field["name"], field["value"]] }) if post["params"]
      end
    end
  end
end
