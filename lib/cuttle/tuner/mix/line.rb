# frozen_string_literal: true

require "json"

module Cuttle
  module Tuner
    module Mix
      # Reads one line of an access log.
      module Line
        # One request. status: nil if the line does not have it.
        Seen = Struct.new(:method, :path, :status)

        # The common and combined formats, and Puma's: "GET /posts HTTP/1.1" 200
        COMMON = %r{"([A-Z]+) (\S+) HTTP/\d(?:\.\d)?" (\d{3}|-)}
        # Rails, with or without a prefix: Started GET "/posts" for 127.0.0.1
        RAILS = /\bStarted ([A-Z]+) "([^"]+)" for /
        ESCAPED = /\\x(\h\h)/

        module_function

        # A Seen, or nil.
        def read(line)
          if (match = COMMON.match(line)) then Seen.new(match[1], plain(match[2]), match[3].to_i.nonzero?)
          elsif (match = RAILS.match(line)) then Seen.new(match[1], match[2], nil)
          elsif line.start_with?("{") then json(line)
          end
        end

        # Cuttle's JSON, which has path and query in separate keys.
        def json(line)
          fields = JSON.parse(line)
          method, path, query, status = fields.values_at("method", "path", "query", "status")
          return unless method.is_a?(String) && path.is_a?(String)

          query = query.to_s.delete_prefix("?")
          path = "#{path}?#{query}" unless query.empty?
          Seen.new(method, path, status&.to_i) if [method, path].all?(&:valid_encoding?)
        rescue JSON::ParserError, NoMethodError
          nil
        end

        # The path as the client sent it: Cuttle's logs escape some octets as \xNN.
        def plain(path)
          path.gsub(ESCAPED) { format("%%%02X", $1.hex) }
        end
      end
    end
  end
end
