# frozen_string_literal: true

require "cuttle/static/answers"
require "cuttle/static/conditions"
require "cuttle/static/delivery"
require "cuttle/static/etag"
require "cuttle/static/encodings"
require "cuttle/static/http_date"
require "cuttle/static/multipart"
require "cuttle/static/path"
require "cuttle/static/ranges"
require "cuttle/static/representation"
require "cuttle/static/tree"
require "cuttle/static/types"

module Cuttle
  # Serves the files below a directory: GET and HEAD, conditions, ranges and precompressed files (RFC 9110). It never
  # serves a file outside the directory or a dot file, whatever the path (see Path and Beneath). It knows neither Rack
  # nor an engine. Any number of threads may call it.
  #
  #   request path --Path--> name --Beneath--> open file --Representation--> headers --Delivery--> response
  class Static
    # Methods that the server knows but a file does not allow (RFC 9110, 9.3; RFC 5789).
    OTHER_METHODS = %w[POST PUT DELETE OPTIONS TRACE PATCH].freeze
    private_constant :OTHER_METHODS

    # beneath::       a core's Beneath, which opens the files
    # root::          the directory; a relative name starts from the current directory
    # content_types:: call(".html") → "text/html", nil for an unknown extension
    # index::         the file that is served for its directory; nil: none
    # charset::       the charset of text/* in Content-Type; nil: none is given
    # precompressed:: look for NAME.br and NAME.gz
    # final::         no app follows: answer 404, 405, 501 and 400 instead of returning false
    # portable::      open files the portable way even if the kernel has a better one
    #
    # Raises UsageError if +root+ is not a readable directory.
    def initialize(root, content_types:, beneath: Beneath, index: "index.html", charset: "utf-8", precompressed: true,
                   final: false, portable: false)
      @tree = Tree.new(beneath.new(root, portable), Types.new(content_types, charset, precompressed), index)
      @final = final
    rescue SystemCallError => error
      raise UsageError, "can't serve files from #{root}: #{error.message}"
    end

    # Answers the request of +exchange+ and returns true, or returns false if the request is not for a file. Never
    # raises: if the server is at its limits or its disk fails, the answer is 503.
    def call(exchange)
      method = exchange.request_method
      served = method == "GET" || method == "HEAD"
      decided = served ? serve(exchange) : decline_method(exchange, method)
    rescue StandardError => error
      decided = fail_with(exchange, error)
    ensure
      exchange.abort if decided.nil? # the thread was killed: the client must not wait for it
    end

    private

    def serve(exchange)
      path = exchange.path
      found = @tree.open(path) { |entry, representation| answer(exchange, entry, representation) }
      return true if found == true || (found == :directory && redirected?(exchange, path))

      decline(exchange, Path.malformed?(path) ? 400 : 404)
    end

    def answer(exchange, entry, representation)
      return true if representation.varies? && answered_coded?(exchange, representation)

      Delivery.call(exchange, entry, representation)
      true
    end

    def answered_coded?(exchange, plain)
      field = exchange.header("accept-encoding") or return false

      Encodings.preferred(field).any? do |coding|
        @tree.open_coded(plain, coding) do |entry, representation|
          Delivery.call(exchange, entry, representation)
          true
        end
      end
    end

    def redirected?(exchange, path)
      return false unless @tree.index?(path)

      Answers.redirect(exchange, path)
      true
    end

    def fail_with(exchange, error)
      # The request may have had its answer before (app_timeout): the watchdog has reported that.
      late = error.is_a?(IOError) && exchange.finished?
      Cuttle.report("static files: #{error.message} (#{error.class})") unless late
      exchange.responded? ? exchange.abort : Answers.text(exchange, 503)
      true
    end

    # RFC 9110, 15.5.6 and 15.6.2.
    def decline_method(exchange, method)
      return decline(exchange, 501) unless OTHER_METHODS.include?(method)

      decline(exchange, 405, "allow" => "GET, HEAD")
    end

    def decline(exchange, status, headers = {})
      return false unless @final

      Answers.text(exchange, status, headers)
      true
    end
  end
end
