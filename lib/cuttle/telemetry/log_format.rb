# frozen_string_literal: true

require "json"

module Cuttle
  module Telemetry
    # The form of an access log's lines: "common", "combined", "json", or a text with these directives, which are those
    # of Apache's LogFormat:
    #
    #   %h remote address    %l "-"             %u user            %t time          %r request line
    #   %m method            %U path            %q query           %H protocol      %s status
    #   %b octets, or "-"    %B octets          %D microseconds    %T seconds       %P process
    #   %I X-Request-Id      %{Name}i field of the request         %% percent sign
    #
    # Times are from the request's first octet to the response's last. Nothing that a client sends can break a line or
    # control a terminal: controls, quotes, backslashes and everything beyond ASCII are escaped.
    class LogFormat
      NAMED = {
        "common" => '%h %l %u %t "%r" %s %B %T',
        "combined" => '%h %l %u %t "%r" %s %B "%{Referer}i" "%{User-Agent}i" %T'
      }.freeze

      # The members of an object of the format json, and where their values come from.
      MEMBERS = { "time" => "z", "remote" => "h", "user" => "u", "method" => "m", "path" => "U", "query" => "q",
                  "protocol" => "H", "status" => "s", "bytes" => "B", "seconds" => "T", "request_id" => "I",
                  "referer" => "Referer", "user_agent" => "User-Agent", "pid" => "P" }.freeze

      DIRECTIVE = /%(?:([hlutrmUqHsbBDTPI%])|\{([!#-z|~]+)\}i)/
      KNOWN = "%h %l %u %t %r %m %U %q %H %s %b %B %D %T %P %I %{Name}i"

      # PIPE_BUF on Linux; POSIX guarantees 512.
      LONGEST = 4096

      UNSAFE = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/n

      # What a line needs of the env before the app gets it, which may change it and its Strings: of fields, which are
      # not here, a copy. (Expressions, as in LATE.)
      EARLY = {
        "r" => "request_line(env)",
        "m" => 'env["REQUEST_METHOD"]', "U" => "path(env)", "q" => "query(env)", "H" => 'env["SERVER_PROTOCOL"]',
        "I" => 'env["HTTP_X_REQUEST_ID"].dup'
      }.freeze

      # Read when the exchange is over. The peer is that of the socket, not the address that a field claims; that of a
      # Unix socket has no address.
      LATE = {
        "h" => "exchange.remote_address", "l" => "nil", "u" => "user(env)", "t" => "clock[1]", "z" => "clock[2]",
        "s" => "exchange.status", "b" => "nonzero(exchange.bytes_sent)", "B" => "exchange.bytes_sent",
        "D" => "microseconds(exchange.times)", "T" => "seconds(exchange.times)", "P" => "Process.pid"
      }.freeze

      # Values that need no escapes.
      SAFE = %w[l t z s b B D T P].freeze

      class << self
        # +text+, if it is a format. Raises ArgumentError, which says what is.
        def check(text)
          return text if text == "json" || NAMED.key?(text)

          wrong = text.gsub(DIRECTIVE, "")[/%(\{[^}]*\}?.?|.?)/]
          return text if text.include?("%") && !wrong && !text.match?(/[^\x20-\x7e]/)

          raise ArgumentError, "give #{NAMED.keys.join(", ")}, json, or a line of #{KNOWN}" \
                               "#{"; there is no #{wrong}" if wrong}"
        end
      end

      def initialize(text)
        @names = MEMBERS.keys if text == "json"
        parts = @names ? MEMBERS.values : parse(NAMED.fetch(text, text))
        early = parts.grep(String).uniq - LATE.keys
        @second = [0, "", ""].freeze
        compile(parts, early)
      end

      # The line of an exchange that is over, with what #request said before: at most LONGEST octets with its newline,
      # for long values are cut, and the line itself if the format is too long for any.
      def line(request, env, exchange)
        limit = LONGEST
        limit /= 2 while (line = "#{render(request, env, exchange, limit)}\n").bytesize > LONGEST && limit.positive?
        line.bytesize > LONGEST ? "#{line.byteslice(0, LONGEST - 1)}\n" : line
      end

      private

      # Directives are Strings, and the text between them is an Array of one String.
      def parse(text)
        parts = []
        until text.empty?
          before, match, text = text.partition(DIRECTIVE)
          parts << [before] unless before.empty?
          letter, name = match.match(DIRECTIVE)&.captures
          parts << (letter == "%" ? ["%"] : letter || name) if letter || name
        end
        parts
      end

      # Defines #request and #render as methods of this object: a line is written for every request, and a loop over its
      # parts takes four times as long.
      def compile(parts, early)
        values = parts.map { |part| part.is_a?(String) ? value(part, early.index(part)) : part.first.dump[1..-2] }
        text = @names ? "json([#{values.join(", ")}], limit)" : "\"#{values.join}\""
        before = early.map { |part| EARLY.fetch(part) { "env[#{key(part).dump}].dup" } }.join(", ")
        # def request(env) = [request_line(env)]
        # def render(early, env, exchange, limit) = "#{text(exchange.remote_address, limit)} - …"
        instance_eval(<<~RUBY, __FILE__, __LINE__ + 1) # rubocop:disable Style/DocumentDynamicEvalDefinition
          def request(env) = [#{before}]
          def render(early, env, exchange, limit) = #{text}
        RUBY
      end

      # The expression for one part: a value for JSON, otherwise an interpolation.
      def value(part, index)
        raw = index ? "early[#{index}]" : LATE.fetch(part)
        return raw if @names
        return "\#{#{raw} || \"-\"}" if SAFE.include?(part)

        "\#{#{part == "u" ? "word" : "text"}(#{raw}, limit)}"
      end

      def key(name)
        "HTTP_#{name.upcase.tr("-", "_")}".sub(/\AHTTP_(CONTENT_(?:TYPE|LENGTH))\z/, "\\1")
      end

      def request_line(env)
        "#{env["REQUEST_METHOD"]} #{path(env)}#{query(env)} #{env["SERVER_PROTOCOL"]}"
      end

      def path(env) = "#{env["SCRIPT_NAME"]}#{env["PATH_INFO"]}"

      def query(env)
        query = env["QUERY_STRING"]
        query.nil? || query.empty? ? "" : "?#{query}"
      end

      # The app has set it. (Not by [], because an app may give its env a default_proc.)
      def user(env)
        name = env.fetch("REMOTE_USER", nil)
        name if name.is_a?(String)
      end

      def nonzero(octets)
        octets unless octets.zero?
      end

      def microseconds(times)
        ((times[5] - times[1]) * 1_000_000).round if times[1] && times[5]
      end

      def seconds(times)
        return unless times[1] && times[5]

        @names ? (times[5] - times[1]).round(4) : format("%.4f", times[5] - times[1])
      end

      def text(value, limit)
        return "-" if value.nil? || value.empty?

        value = value.byteslice(0, limit) if value.bytesize > limit
        return value if value.ascii_only? && !UNSAFE.match?(value)

        value.b.gsub(UNSAFE) { |octet| hex(octet) }[0, limit]
      end

      # The same without spaces, for a value that has no quotes around it.
      def word(value, limit)
        text(value, limit).gsub(" ", "\\x20")
      end

      def hex(octets)
        octets.unpack("C*").map { |octet| format("\\x%02x", octet) }.join
      end

      # Only ASCII, and no DEL. Octets that are no UTF-8 are written as \\xNN.
      def json(values, limit)
        values = values.map { |value| value.is_a?(String) ? utf8(value.byteslice(0, limit)) : value }
        JSON.generate(@names.zip(values).to_h.compact, ascii_only: true).gsub("\x7f", "\\u007f")
      end

      def utf8(value)
        value.dup.force_encoding(Encoding::UTF_8).scrub { |octets| hex(octets) }
      end

      # [second, text for %t, text for JSON], rendered once per second. Two threads that do it at once write the same.
      def clock
        second = Process.clock_gettime(Process::CLOCK_REALTIME, :second)
        return @second if @second[0] == second

        now = Time.at(second)
        @second = [second, now.strftime("[%d/%b/%Y:%H:%M:%S %z]").freeze, now.strftime("%FT%T%:z").freeze].freeze
      end
    end
  end
end
