# frozen_string_literal: true

module Cuttle
  class Static
    # Responses other than a file.
    module Answers
      REASONS = { 400 => "Bad Request", 404 => "Not Found", 405 => "Method Not Allowed", 412 => "Precondition Failed",
                  416 => "Range Not Satisfiable", 501 => "Not Implemented", 503 => "Service Unavailable" }.freeze

      # Answers with +status+, and with its reason as text.
      def self.text(exchange, status, headers = {})
        exchange.respond(status, { "content-type" => "text/plain; charset=utf-8" }.merge(headers),
                         ["#{REASONS.fetch(status)}\n"])
      end

      # Redirects to the directory's own path, so that relative links in its pages work. +path+ is as sent. It begins
      # with one "/" and a name, so it can't be read as another host.
      def self.redirect(exchange, path)
        query = exchange.env["QUERY_STRING"].to_s
        exchange.respond(301, { "location" => "#{path}/#{"?#{query}" unless query.empty?}" }, [])
      end
    end
  end
end
