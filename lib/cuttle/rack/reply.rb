# frozen_string_literal: true

module Cuttle
  module Rack
    # A response whose body is more than an Array of Strings. It is sent piece by piece, from a file, or by the app
    # itself through a stream; or the app gets the socket. The body is closed once, whatever happens. The callbacks
    # run after that, as under Puma and Falcon, because Rails releases in them what the body's close may still need.
    class Reply
      # +ended+ is called at the end of a stream.
      def initialize(exchange, env, status, headers, body, ended = nil)
        @exchange = exchange
        @env = env
        @status = status
        @headers = headers
        @body = body
        @ended = ended
        @completing = Mutex.new
        @over = [] # :body, and of a stream :stream
      end

      # Whether the app has, or had, a stream for this response.
      def streaming?
        @streaming
      end

      # Sends the response. Returns when it is complete, except for a stream that the app keeps and closes later.
      def deliver
        send_body unless @exchange.finished? # the app has taken the socket
        delivered = true
      rescue Exception => error # rubocop:disable Lint/RescueException -- whatever it is, it is reported and raised again
        raise if Adapter.pass?(@exchange, error)

        fail_with(error)
        delivered = true
      ensure
        Completion.close(@exchange, @env, @body) # which may read the request's input
        over(:body) if delivered && !@exchange.forked?
      end

      private

      def send_body
        if (hijack = field("rack.hijack")) then contentless? ? send_head : give_socket(hijack)
        elsif bodiless? then @exchange.respond(@status, @headers, [])
        elsif @body.respond_to?(:to_path) && (file = open_file) then send_file(file)
        elsif (parts = whole_body) then @exchange.respond(@status, @headers, parts)
        elsif @body.respond_to?(:each) then send_each
        elsif @body.respond_to?(:call) then stream
        else raise InvalidResponse, "a body that has neither each nor call: #{@body.class}"
        end
      end

      # The body as a new Array, if it has to_ary. If a length is announced, each is used instead, because every body
      # has that method, and Rails' to_ary fails for bodies of ranges.
      def whole_body
        return if !@body.respond_to?(:to_ary) || (length_announced && @body.respond_to?(:each))

        parts = @body.to_ary
        parts && Array.new(parts)
      end

      def length_announced
        field("content-length") || field("Content-Length")
      end

      # The value of a field that the app names so. Rack 2 takes any headers that yield pairs.
      def field(name)
        if @headers.respond_to?(:to_hash)
          fields = @headers.to_hash
          return (fields[name] if fields.key?(name)) # it may have a default
        end

        @headers.each { |key, value| return value if key == name } if @headers.respond_to?(:each)
        nil
      end

      def bodiless?
        contentless? && (@body.respond_to?(:each) || @body.respond_to?(:call))
      end

      # RFC 9110, 6.4.1: no content follows the head, whatever the app would write.
      def contentless?
        @status != 101 && (@exchange.head? || [204, 205, 304].include?(@status))
      end

      def send_head
        @exchange.start(@status, @headers)
        @exchange.finish
      end

      # The body's file, if the head announces all of it. The connection owns the file once it is sent.
      def open_file
        path = @body.to_path or return
        file = File.open(path, File::RDONLY | File::NONBLOCK)
        return file if file.stat.file? && announced?(file.size)

        file.close
        nil
      rescue SystemCallError, IOError
        nil # such as a file without a name, which a large rack.input is; the body may still respond to each
      end

      def announced?(size)
        length = length_announced
        length ? length.to_s == size.to_s : @status.to_i == 200
      end

      def send_file(file)
        @exchange.send_file(@status, @headers, file, 0, file.size)
        sent = true
      ensure
        file.close unless sent
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
        @body.call(Stream.new(@exchange, @env["rack.input"]) { |error| over(:stream, error) && closed.close })
        closed.pop unless @exchange.evented? # the connection's thread must wait for the end of the stream
      end

      # From here on the app speaks another protocol on the socket itself. If the app fails, the socket is closed.
      def give_socket(protocol)
        protocol.call(socket = @exchange.upgrade(@status, @headers))
        given = true
      ensure
        socket&.close unless given
      end

      def fail_with(error)
        Completion.report(@env, error)
        @status, @headers = Adapter::FAILURE if Completion.fail(@exchange, Adapter::FAILURE)
        over(:stream, error)
      end

      # Notes the end of a +part+, with the app's +error+ if that ended it. Both ends may come in different threads, and
      # an error may follow the end of a stream.
      def over(part, error = nil)
        last = @completing.synchronize do
          @error ||= error
          next if @over.include?(part)

          @over << part
          @over.include?(:body) && (!@streaming || @over.include?(:stream))
        end
        complete if last
        true
      end

      def complete
        Completion.run(@exchange, @env, @status, @headers, @error)
        @exchange.dispose
        @ended&.call if @streaming
      end
    end
  end
end
