# frozen_string_literal: true

require "json"
require "uri"

module Cuttle
  module Tuner
    # Keeps the requests of a tune in a file that every run of the lab and a later tune (--mix) can read.
    module Requests
      Host = Struct.new(:host, :port)

      module_function

      # The requests in a HAR file to its most frequent host. Yields the number of requests that are left out, and which
      # ones ("to other hosts than example.org"). Raises UsageError.
      def from_har(path, &left_out)
        entries = JSON.parse(Load::Har.text(path)).dig("log", "entries")
        hosts = Array(entries).filter_map { |entry| host(entry) }
        raise UsageError, "--har: #{path}: no requests in it" if hosts.empty?

        Load::Har.read(path, Host.new(hosts.tally.max_by(&:last).first), &left_out)
      rescue JSON::ParserError, TypeError, NoMethodError
        raise UsageError, "--har: #{path}: not a HAR file"
      rescue SystemCallError => error
        raise UsageError, "--har: #{path}: #{Load.reason(error)}"
      end

      def host(entry)
        URI(entry.dig("request", "url").to_s).host&.downcase
      rescue URI::InvalidURIError
        nil
      end

      # Writes +requests+ to the file +path+ as `cuttle load --mix` reads them. Bodies that are not UTF-8 go to files
      # beside it. Returns the path. Raises Failure.
      def write(requests, path)
        lines = requests.map.with_index { |request, index| JSON.generate(line(request, "#{path}.#{index}")) }
        File.write(path, lines.map { |line| "#{line}\n" }.join)
        path
      rescue SystemCallError => error
        raise Failure, "can't write #{path}: #{Load.reason(error)}"
      end

      def line(request, beside)
        said = request.to_h.slice("method", "path", "headers", "weight", "name", "check", "take")
        { **said, "status" => request.expect, **body(request.body, beside) }
          .reject { |_, value| value.nil? || [[], {}].include?(value) }
      end

      def body(body, beside)
        return {} unless body

        text = body.dup.force_encoding(Encoding::UTF_8)
        return { "body" => text } if text.valid_encoding?

        File.binwrite(beside, body)
        { "body_file" => File.basename(beside) }
      end
    end
  end
end
