# frozen_string_literal: true

module Cuttle
  module Rack
    # The argument of a streaming body (one that responds to call). A write sends a piece of the response; a read takes
    # from the request's body. The response ends when the app closes the stream, possibly in another thread.
    class Stream
      def initialize(exchange, input, &closed)
        @exchange = exchange
        @input = input
        @closed = closed
      end

      # Raises Disconnected when the client has gone. The response is over then, whether the app closes it or not.
      def write(*strings)
        strings.sum { |string| @exchange.write(string.to_s); string.to_s.bytesize }
      rescue Disconnected => error
        close(error)
        raise
      end

      def <<(string)
        write(string)
        self
      end

      def read(...)
        @input.read(...)
      end

      def flush
        write("")
        self
      end

      def close_read
        nil
      end

      def close_write
        close
      end

      # Completes the response. With +error+ the response is cut short, and the client must be able to see that.
      def close(error = nil)
        return if closed?

        error ? @exchange.abort : @exchange.finish
        @closed&.call(error)
        nil
      end

      def closed?
        @exchange.finished?
      end
    end
  end
end
