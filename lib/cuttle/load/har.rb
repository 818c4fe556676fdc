# frozen_string_literal: true

require "json"
require "uri"

module Cuttle
  module Load
    # The requests of a HAR file (HTTP Archive 1.2, as browsers save it), in its order. It leaves out requests to other
    # hosts and ports, and header fields that belong to the browser's connection.
    module Har
      HOP = %w[
        host connection content-length transfer-encoding keep-alive proxy-connection te upgrade http2-settings
      ].freeze

      # Less strict than Ruby's URI: browsers send octets such as | as they are.
      URL = %r{\A(?<scheme>https?)://(?:[^/?#@]*@)?(?:\[(?<host>[^/?#\]]+)\]|(?<host>[^/?#:]+))(?::(?<port>\d*))?
               (?<path>/[^?#]*)?(?<query>\?[^#]*)?}ix
      PORTS = { "http" => 80, "https" => 443 }.freeze

      Address = Struct.new(:host, :port, :path)

      module_function

      # The Requests for the Target +target+. If the file has none to its port, it was recorded elsewhere, and the
      # host's most frequent port counts. Yields the number of requests that are left out, and which ones ("to other
      # hosts than example.org"). Raises UsageError.
      def read(path, target, &left_out)
        entries = JSON.parse(text(path)).dig("log", "entries")
        raise UsageError, "--har: #{path}: no log.entries in it" unless entries.is_a?(Array)

        pairs = entries.map { |entry| [entry["request"], address(entry["request"])] }
        pairs = choose(pairs, target, left_out)
        raise UsageError, "--har: #{path}: no request to #{target.host} in it" if pairs.empty?

        pairs.map { |request, address| request(request, address) }
      rescue JSON::ParserError, TypeError, NoMethodError
        raise UsageError, "--har: #{path}: not a HAR file"
      rescue SystemCallError => error
        raise UsageError, "--har: #{path}: #{Load.reason(error)}"
      end

      # The pairs of a request and its Address that are for +target+.
      def choose(pairs, target, left_out)
        pairs = keep(pairs, "not to http or https", left_out) { |address| address }
        pairs = keep(pairs, "to other hosts than #{target.host}", left_out) { |each| each.host.casecmp?(target.host) }
        ports = pairs.map { |_, address| address.port }
        port = ports.include?(target.port) ? target.port : ports.tally.max_by(&:last)&.first
        keep(pairs, "to other ports than #{port}", left_out) { |address| address.port == port }
      end

      def keep(pairs, others, left_out)
        kept, rest = pairs.partition { |_, address| yield address }
        left_out&.call(rest.length, others) if rest.any?
        kept
      end

      # The file's text. Some programs begin it with a byte order mark.
      def text(path)
        File.read(path, encoding: "BOM|UTF-8")
      end

      # The Address of a request, or nil if it is not for an http URL. Proxies also keep CONNECT, for tunnels of https.
      def address(request)
        match = URL.match(request["url"].to_s.b) or return
        return if request["method"] == "CONNECT"

        port = match[:port].to_s.empty? ? PORTS.fetch(match[:scheme].downcase) : match[:port].to_i
        Address.new(match[:host], port, "#{match[:path] || "/"}#{match[:query]}")
      end

      def request(request, address)
        Request.new(method: request["method"], path: escape(address.path), headers: headers(request["headers"] || []),
                    body: body(request["postData"]))
      end

      # Escapes octets that a path can't have.
      def escape(path)
        path.gsub(/[^!-~]/n) { |octet| format("%%%02X", octet.ord) }.force_encoding(Encoding::UTF_8)
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
