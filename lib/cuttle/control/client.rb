# frozen_string_literal: true

require "json"
require "socket"

module Cuttle
  class Control
    # Asks a control listener, one request on one connection.
    class Client
      # Seconds for the whole answer.
      PATIENCE = 10

      # Requests that use GET; all others use POST.
      READ = %w[live ready stats gc-stats top metrics].freeze

      # +status+ is nil if the listener closed the connection without an answer.
      Answer = Struct.new(:status, :body)

      # +url+ is tcp://host:port or unix:///path. Raises UsageError.
      def initialize(url, token = nil)
        @url = Listeners.check(url)
        @token = token
      rescue ArgumentError => error
        raise UsageError, "#{url}: #{error.message}"
      end

      # The answer of `cuttle ctl status`.
      def status
        ask("ready").status == 200 ? "running" : "running, but not ready: it starts or stops"
      end

      # Passes a command on, or reads figures. Returns the answer's JSON text. Raises Error if the listener can't be
      # reached, or refuses.
      def call(name)
        answer = ask(name)
        return answer.body if answer.status == 200 || (name == "halt" && answer.status.nil?) # it has ended already

        raise Error, refusal(answer)
      end

      def to_s
        @url
      end

      private

      def ask(name)
        @deadline = Cuttle.now + PATIENCE
        socket = connect
        socket.write("#{READ.include?(name) ? "GET" : "POST"} /#{name} HTTP/1.0\r\nHost: control\r\n" \
                     "#{"Authorization: Bearer #{@token}\r\n" if @token}Content-Length: 0\r\n\r\n")
        parse(read(socket))
      rescue SystemCallError, SocketError => error
        raise Error, "can't reach #{self}: #{error.message.lines.first.chomp}"
      ensure
        socket&.close
      end

      def connect
        address = @url.sub(/\?.*/m, "") # what follows is for who listens
        return UNIXSocket.new(address.sub(%r{\Aunix:(//)?}, "")) if address.start_with?("unix:")

        host, port = address.match(%r{\Atcp://\[?(.*?)\]?:(\d+)\z}).captures
        Socket.tcp(host, port, connect_timeout: PATIENCE)
      end

      # Reads until the end.
      def read(socket)
        text = String.new(encoding: Encoding::BINARY)
        loop do
          bytes = socket.read_nonblock(65_536, exception: false)
          return text unless bytes

          bytes == :wait_readable ? wait(socket) : text << bytes
        end
      rescue Errno::ECONNRESET
        text
      end

      def wait(socket)
        left = @deadline - Cuttle.now
        raise Error, "no answer from #{self} within #{PATIENCE} s" unless left.positive? && socket.wait_readable(left)
      end

      def parse(text)
        return Answer.new if text.empty?

        head, body = text.split("\r\n\r\n", 2)
        status = head.to_s[%r{\AHTTP/1\.[01] (\d{3})[ \r]}, 1] or raise Error, "#{self} is no control listener"
        Answer.new(status.to_i, body.to_s.force_encoding(Encoding::UTF_8))
      end

      def refusal(answer)
        JSON.parse(answer.body).fetch("error")
      rescue JSON::ParserError, KeyError, TypeError
        answer.status ? "status #{answer.status}" : "no answer"
      end
    end
  end
end
