# frozen_string_literal: true

module Cuttle
  class Listeners
    # A listening TCP socket on JRuby, where a Socket can't listen and a TCPServer has a backlog of 50. It accepts as a
    # TCPServer does. The JVM sets SO_REUSEADDR, and takes IPv4 and IPv6 on [::] and on 0.0.0.0.
    class Jvm < ServerSocket
      SHORTAGE = Errno::EMFILE.new.message

      def self.listen(address, backlog:, reuse_port: false)
        socket = new(address.afamily, :STREAM)
        # JRuby's setsockopt takes it and does nothing.
        socket.to_channel.set_option(java.net.StandardSocketOptions::SO_REUSEPORT, true) if reuse_port
        socket.bind(address, backlog)
        socket
      rescue SystemCallError
        socket&.close
        raise
      end

      # The connection alone, without its address.
      def accept
        super.first
      end

      def accept_nonblock(exception: true)
        accepted = super
        accepted.is_a?(Array) ? accepted.first : accepted
      rescue SocketError => error # where Ruby says EMFILE
        raise error.message == SHORTAGE ? Errno::EMFILE : error
      end
    end
  end
end
