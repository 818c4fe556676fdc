# frozen_string_literal: true

require "cgi/escape"
require "net/http"

module Real
  # What a browser does, with Net::HTTP: each request on a connection of its own, cookies kept from one to the next.
  module Web
    LONGEST_WAIT = 30 # seconds

    def get(path, headers = {})
      request(Net::HTTP::Get.new(path, headers))
    end

    def post(path, fields)
      request(Net::HTTP::Post.new(path).tap { |post| post.set_form_data(fields) })
    end

    # fields: { "name" => "value", "field" => [content, file name, content type] }
    def post_multipart(path, fields)
      parts = fields.map do |name, (value, file, type)|
        file ? [name, value, { filename: file, content_type: type }] : [name, value]
      end
      request(Net::HTTP::Post.new(path).tap { |post| post.set_form(parts, "multipart/form-data") })
    end

    def request(request, &block)
      request["cookie"] = cookies.map { |pair| pair.join("=") }.join("; ") if cookies.any?
      response = connect { |http| http.request(request, &block) }
      Array(response.get_fields("set-cookie")).each { |cookie| cookies.store(*cookie[/[^;]*/].split("=", 2)) }
      response
    end

    # A connection of its own; Net::HTTP keeps it alive for as long as the block runs.
    def connect(&block)
      Net::HTTP.start("127.0.0.1", server.port, read_timeout: LONGEST_WAIT, max_retries: 0, &block)
    end

    def cookies
      @cookies ||= {}
    end

    # What Rails puts into each of its forms against forgery.
    def form_token(page)
      CGI.unescapeHTML(page.body[/name="authenticity_token" value="([^"]+)"/, 1])
    end
  end

  # Somebody else: with cookies of their own.
  class Browser
    include Web

    attr_reader :server

    def initialize(server)
      @server = server
    end
  end
end
