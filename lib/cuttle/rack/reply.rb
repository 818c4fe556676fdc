# frozen_string_literal: true

module Cuttle
  module Rack
    # A response whose body is more than an Array of Strings: sent piece by piece, from a file, by the app itself
    # through a stream, or handed to the app with the socket. The body is closed once, whatever happens.
    class Reply
      # +ended+ is called at the end of a stream.
      def initialize(exchange, env, status, headers, body, ended = nil)
        @exchange = exchange
        @env = env
        @status = status
        @headers = headers
        @body = body
        @ended = ended
      end

      # Whether the app has a stream, and goes on with it, or did.
      def streaming?
        @streaming
      end

      # Sends it. Returns when it is complete, but for a stream that the app keeps to close later.
      def deliver
        send_body unless @exchange.finished? # the app has taken the socket
        complete(nil) unless @streaming
      rescue Exception => error # rubocop:disable Lint/RescueException -- whatever it is, it is reported and raised again
        raise if Adapter.pass?(@exchange, error)

        fail_with(error)
      ensure
        close_body
      end

      private

      def send_body
        if (hijack = @headers["rack.hijack"]) then give_socket(hijack)
        elsif bodiless? then @exchange.respond(@status, @headers, [])
        elsif @body.respond_to?(:to_path) && (file = open_file) then send_file(file)
        elsif (parts = whole_body) then @exchange.respond(@status, @headers, parts)
        elsif @body.respond_to?(:each) then send_each
        elsif @body.respond_to?(:call) then stream
        else raise InvalidResponse, "a body that has neither each nor call: #{@body.class}"
        end
      end

      # The body as an Array of its own, where it has one. With a length announced, each does as well, and is what every
      # body is sure to have: Rails' to_ary fails for bodies of ranges.
      def whole_body
        return if !@body.respond_to?(:to_ary) || (length_announced && @body.respond_to?(:each))

        parts = @body.to_ary
        parts && Array.new(parts)
      end

      def length_announced
        @headers["content-length"] || @headers["Content-Length"]
      end

      def bodiless?
        (@exchange.head? || @status == 204 || @status == 304) && (@body.respond_to?(:each) || @body.respond_to?(:call))
      end

      # The body's file, where sending all of it is what the head announces. It is the connection's once it is sent.
      def open_file
        path = @body.to_path or return
        file = File.open(path, File::RDONLY | File::NONBLOCK)
        return file if file.stat.file? && announced?(file.size)

        file.close
        nil
      rescue SystemCallError
        nil # the body may still know how to read itself
      end

      def announced?(size)
        length = length_announced
        length ? length.to_s == size.to_s : @status.to_i == 200
      end

      def send_file(file)
        @exchange.send_file(@status, @headers, file, 0, file.size)
      rescue InvalidResponse
        file.close
        raise
      end

      def send_each
        @exchange.start(@status, @headers)
        @body.each { |piece| @exchange.write(piece) }
        @exchange.finish
      end

      def stream
        return give_socket(@body) if @status == 101

        @exchange.start(@status, @headers)
        @streaming = true
        closed = Thread::Queue.new
        @body.call(Stream.new(@exchange, @env["rack.input"]) { |error| complete(error) && closed.close })
        closed.pop unless @exchange.evented? # its thread is the connection's, which goes on behind the stream
      end

      # The app speaks another protocol from here on: it gets the socket itself. An app that fails there has it no more.
      def give_socket(protocol)
        protocol.call(socket = @exchange.upgrade(@status, @headers))
        given = true
      ensure
        socket&.close unless given
      end

      def fail_with(error)
        Completion.report(@env, error)
        @status, @headers = Adapter::FAILURE if Completion.fail(@exchange)
        complete(error)
      end

      # Once: a stream's end may be followed by an error of the app's.
      def complete(error)
        return true if @completed

        @completed = true
        Completion.run(@exchange, @env, @status, @headers, error)
        @exchange.dispose
        @ended&.call if @streaming
        true
      end

      def close_body
        @body.close if @body.respond_to?(:close)
      rescue Exception => error # rubocop:disable Lint/RescueException -- an engine outlives whatever an app raises
        raise if Adapter.pass?(@exchange, error)

        Completion.report(@env, error)
      end
    end
  end
end
