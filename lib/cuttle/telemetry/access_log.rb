# frozen_string_literal: true

module Cuttle
  module Telemetry
    # One line a request, in the Common Log Format plus the seconds from the request's first octet to the response's
    # last:
    #
    #   127.0.0.1 - - [21/Nov/2026:07:15:00 +0000] "GET /topics?page=2 HTTP/1.1" 200 1843 0.0042
    #
    # Whatever the client sent is escaped, so that no line breaks and no terminal obeys. A line is one write(2), below
    # the size that pipes take whole: lines of several threads and processes never mix. Any thread may record.
    class AccessLog
      # PIPE_BUF on Linux; POSIX promises 512.
      LONGEST = 4096

      # What a field between quotes may not hold as it is: controls, quotes, backslashes, and everything beyond ASCII.
      UNSAFE = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/n

      # +io+ is written to as long as it takes lines; it is not closed.
      def initialize(io)
        @io = io.dup
        @io.sync = true
        @second = [0, ""].freeze
      end

      # What the client asks, as a line has it: for #record. +env+ is the request's, before the app has it.
      def request(env)
        escape("#{env["REQUEST_METHOD"]} #{target(env)} #{env["SERVER_PROTOCOL"]}")
      end

      # Writes the line of an exchange that is over, so all that it says is the exchange's own record, but for the user,
      # whom the app has entered in +env+. Never raises: a log that nobody reads any more stops no request.
      def record(request, env, exchange)
        @io.write(line(request, env, exchange))
      rescue SystemCallError, IOError
        nil
      end

      private

      def line(request, env, exchange)
        rest = "#{exchange.status || "-"} #{exchange.bytes_sent} #{duration(exchange.times)}\n"
        start = "#{host(exchange)} - #{user(env)} [#{clock}] \""
        "#{start}#{request[0, LONGEST - start.length - rest.length - 2]}\" #{rest}"
      end

      def target(env)
        query = env["QUERY_STRING"].to_s
        "#{env["SCRIPT_NAME"]}#{env["PATH_INFO"]}#{"?#{query}" unless query.empty?}"
      end

      # The peer itself, not whom it says it forwards for. A Unix socket's has no address.
      def host(exchange)
        address = exchange.remote_address.to_s
        address.empty? ? "-" : address
      end

      def user(env)
        name = env["REMOTE_USER"]
        !name.is_a?(String) || name.empty? ? "-" : escape(name)[0, 256].gsub(" ", "\\x20")
      end

      def escape(text)
        text.b.gsub(UNSAFE) { |octet| format("\\x%02x", octet.ord) }
      end

      def duration(times)
        first, last = times.values_at(1, 5)
        first && last ? format("%.4f", last - first) : "-"
      end

      # Rendered once a second; whoever comes second writes the same.
      def clock
        now = Time.now
        second, text = @second
        return text if second == now.to_i

        text = now.strftime("%d/%b/%Y:%H:%M:%S %z").freeze
        @second = [now.to_i, text].freeze
        text
      end
    end
  end
end
