# frozen_string_literal: true

module Cuttle
  module Rack
    # A response whose body is more than an Array of Strings: sent piece by piece, from a file, by the app itself
    # through a stream, or handed to the app with the socket. The body is closed once, whatever happens.
    class Reply
      def initialize(connection, env, status, headers, body)
        @connection = connection
        @env = env
        @status = status
        @headers = headers
        @body = body
      end

      # Sends it. Returns when it is complete, but for a stream that the app keeps to close later.
      def deliver
        send_body unless @connection.finished? # the app has taken the socket
        complete(nil) unless @streaming
      rescue Exception => error # rubocop:disable Lint/RescueException -- whatever it is, it is told and raised again
        fail_with(error)
      ensure
        close_body
      end

      private

      def send_body
        if (hijack = @headers["rack.hijack"]) then hijack.call(@connection.upgrade(@status, @headers))
        elsif bodiless? then @connection.respond(@status, @headers, [])
        elsif @body.respond_to?(:to_path) && (file = open_file) then send_file(file)
        elsif @body.respond_to?(:to_ary) then @connection.respond(@status, @headers, Array.new(@body.to_ary))
        elsif @body.respond_to?(:each) then send_each
        elsif @body.respond_to?(:call) then stream
        else raise InvalidResponse, "a body that has neither each nor call: #{@body.class}"
        end
      end

      def bodiless?
        (@connection.head? || @status == 204 || @status == 304) && (@body.respond_to?(:each) || @body.respond_to?(:call))
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
        length = @headers["content-length"] || @headers["Content-Length"]
        length ? length.to_s == size.to_s : @status.to_i == 200
      end

      def send_file(file)
        @connection.send_file(@status, @headers, file, 0, file.size)
      rescue InvalidResponse
        file.close
        raise
      end

      def send_each
        @connection.start(@status, @headers)
        @body.each { |piece| @connection.write(piece) }
        @connection.finish
      end

      def stream
        return upgrade if @status == 101

        @connection.start(@status, @headers)
        @streaming = true
        closed = Thread::Queue.new
        @body.call(Stream.new(@connection, @env["rack.input"]) { |error| complete(error) && closed.close })
        closed.pop unless @connection.evented? # its thread is the connection's, which goes on behind the stream
      end

      # The app speaks another protocol from here on: it gets the socket itself.
      def upgrade
        @body.call(@connection.upgrade(@status, @headers))
      end

      def fail_with(error)
        Completion.report(@env, error)
        raise error if error.is_a?(SignalException)

        @connection.responded? ? @connection.abort : @connection.respond(*Adapter::FAILURE)
        complete(error)
      end

      def complete(error)
        Completion.run(@env["rack.response_finished"], @env, @status, @headers, error)
        true
      end

      def close_body
        @body.close if @body.respond_to?(:close)
      rescue StandardError => error
        Completion.report(@env, error)
      end
    end
  end
end
