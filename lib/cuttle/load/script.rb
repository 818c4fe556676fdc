# frozen_string_literal: true

module Cuttle
  module Load
    # A request's needs from a session, and the checks of its response, in the form that the native threads read
    # (script.h). A request that contains values ({{token}}) or cookies is a template. Redirects have their own
    # templates.
    class Script
      PLACE = /\{\{(\w+)\}\}/
      MARK = /\0(length|cookies|location)\0|#{PLACE}/ # a head never contains NUL
      KINDS = { "text" => 0, "value" => 1, "length" => 2, "cookies" => 3, "location" => 4 }.freeze
      CODINGS = { none: 0, path: 1, form: 2 }.freeze
      BODY_FIELDS = /\Acontent-|\Atransfer-encoding\z/i # of a request with a body
      FORM = %r{\Aapplication/x-www-form-urlencoded\b}i

      # Names of the values in the request, in their order.
      def self.names(request)
        texts = [request.path, *request.headers.map(&:last), request.body.to_s]
        texts.flat_map { |text| text.b.scan(PLACE).flatten }.uniq
      end

      # request: a Request. values: the names of all values. host and close: as for Request#octets. cookies: whether it
      # sends cookies. follow: whether it follows redirects.
      def initialize(request, values:, host:, close:, cookies:, follow:)
        @request = cookies ? request.with(headers: without_cookies(request.headers)) : request
        @values = values
        @host = host
        @close = close
        @cookies = cookies
        @follow = follow
      end

      def to_core
        {
          sent: (template(@request, @request.path) if @cookies || needs.any?),
          see_other: (template(bodiless, mark("location")) if @follow),
          again: (template(@request, mark("location")) if @follow),
          posts: @request.method == "POST", checks: @request.checks.map(&:to_core),
          takes: @request.takes.map { |name, pattern| [@values.index(name), pattern.to_core] }, needs: needs
        }
      end

      private

      def needs
        (Script.names(@request) & @values).map { |name| @values.index(name) }
      end

      def without_cookies(headers)
        headers.reject { |name,| name.casecmp?("cookie") }
      end

      # The GET or HEAD that replaces the request after a redirect.
      def bodiless
        headers = @request.headers.reject { |name, _| BODY_FIELDS.match?(name) }
        @request.with(method: @request.head? ? "HEAD" : "GET", headers: headers, body: nil)
      end

      def mark(name)
        "\0#{name}\0"
      end

      def template(request, path)
        line, fields = request.head(@host, close: @close, path: path, length: mark("length")).b.split("\r\n", 2)
        fields = fields.sub(/\r\n\z/, "#{mark("cookies")}\r\n") if @cookies # before the empty line
        head = parts(line, :path) + parts("\r\n#{fields}", :none)
        { parts: head + parts(request.body.to_s, form?(request) ? :form : :none), body: head.length }
      end

      def form?(request)
        request.headers.any? { |name, value| name.casecmp?("content-type") && value.match?(FORM) }
      end

      # +text+, split at its marks: an Array of [kind, coding, value, octets].
      def parts(text, coding)
        rest = text.b
        found = []
        while (match = MARK.match(rest))
          found << text_part(match.pre_match) << marked(match, coding)
          rest = match.post_match
        end
        (found << text_part(rest)).compact
      end

      def text_part(octets)
        [KINDS.fetch("text"), 0, 0, octets] unless octets.empty?
      end

      # A mark stays unchanged if no request takes its value.
      def marked(match, coding)
        return [KINDS.fetch(match[1]), 0, 0, nil] if match[1]

        value = @values.index(match[2]) or return text_part(match[0])
        [KINDS.fetch("value"), CODINGS.fetch(coding), value, nil]
      end
    end
  end
end
