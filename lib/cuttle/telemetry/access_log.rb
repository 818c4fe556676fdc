# frozen_string_literal: true

module Cuttle
  module Telemetry
    # One line for each request: the Common Log Format, plus the seconds from the request's first octet to the
    # response's last.
    #
    #   127.0.0.1 - - [21/Nov/2026:07:15:00 +0000] "GET /topics?page=2 HTTP/1.1" 200 1843 0.0042
    #
    # Everything that the client sent is escaped, so it can neither break a line nor control a terminal. A line is one
    # write(2), smaller than the size that a pipe takes atomically, so lines of several threads and processes never mix.
    # Any thread may call #record.
    class AccessLog
      # PIPE_BUF on Linux; POSIX guarantees 512.
      LONGEST = 4096

      # Characters that are escaped between quotes: controls, quotes, backslashes, and everything beyond ASCII.
      UNSAFE = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/n

      # Writes to +io+, and does not close it.
      def initialize(io)
        @io = io.dup
        @io.sync = true
        @second = [0, ""].freeze
      end

      # The request as a line shows it, for #record. +env+ is the request's env before the app gets it.
      def request(env)
        escape("#{env["REQUEST_METHOD"]} #{target(env)} #{env["SERVER_PROTOCOL"]}")
      end

      # Writes the line of an exchange that is over. Everything comes from the exchange's own record, except the user,
      # whom the app has set in +env+. Never raises: a log without a reader stops no request.
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

      # The peer of the socket, not the address that a field claims. The peer of a Unix socket has no address.
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

      # Rendered once per second. Two threads that do it at the same time write the same text.
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
