# frozen_string_literal: true

module Cuttle
  class Listeners
    # tcp://host:port. A name listens on each of its local addresses; [::] also takes IPv4.
    class Tcp
      FORM = %r{
        \A(?<bind>tcp://(?:\[(?<v6>[0-9a-fA-F:.]+(?:%\w+)?)\]|(?<host>[^\[\]:/?\#@\s]+)):(?<port>\d{1,5}))
        (?:\?(?<options>[\w=&]*))?\z
      }x

      OPTIONS = %w[backlog reuse_port proxy_protocol low_latency].freeze

      # The URI that clients use for a socket with that +address+.
      def self.uri(address)
        "http://#{address.ipv6? ? "[#{address.ip_address}]" : address.ip_address}:#{address.ip_port}"
      end

      # One Listener for each address of the host, all on the same port, as soon as they are adopted or opened.
      attr_reader :listeners

      # Raises ArgumentError, which says what to give.
      def initialize(uri)
        match = form.match(uri) or raise ArgumentError, "give #{example}"
        @uri = uri
        @host = match[:v6] || match[:host]
        @port = Integer(match[:port], 10)
        @bind = match[:bind]
        @options = { backlog: BACKLOG, **Options.parse(match[:options], names) }
        @listeners = []
        raise ArgumentError, "give a port from 0 to 65535" if @port > 65_535
      end

      # Whether a trusted peer's connection begins with a PROXY header; nil: the URI doesn't say.
      def proxy_protocol = @options[:proxy_protocol]

      # Takes the sockets on its addresses from +inherited+. The kernel chose the port for port 0, so the URI counts
      # then. Raises Error.
      def adopt(inherited)
        addresses.each do |address|
          adopted = inherited.adopt do |listener|
            here?(listener, address) && (@port.zero? ? listener.bind == @bind : port(listener) == @port)
          end
          @listeners << adopted.adopted(@bind, @options) if adopted
        end
      end

      # Listens on those addresses for which it has no socket yet. Raises Error.
      def open
        missing = nil
        addresses.reject { |address| @listeners.any? { |listener| here?(listener, address) } }.each do |address|
          @listeners << listener(address)
        rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT => error
          missing = error
        end
        raise missing if @listeners.empty?
      rescue SystemCallError => error
        raise Error, "can't listen on #{@uri}: #{reason(error)}"
      end

      private

      def form = FORM
      def names = OPTIONS
      def example = "tcp://host:port (tcp://[::1]:9292 for IPv6)"

      def addresses
        @addresses ||= Addrinfo.getaddrinfo(@host, @port, nil, :STREAM, nil, Socket::AI_PASSIVE).uniq(&:ip_address)
      rescue SocketError
        raise Error, "can't listen on #{@uri}: no address is known for #{@host}"
      end

      def here?(listener, address)
        own = listener.socket.local_address
        return false unless own.ip?

        own.ip_address == address.ip_address || (address.ip_address == "0.0.0.0" && takes_both?(listener.socket, own))
      end

      # Whether it is on every address of IPv6 and IPv4, as systemd's sockets with only a port are.
      def takes_both?(socket, address)
        address.ip_address == "::" && !socket.getsockopt(:IPV6, :V6ONLY).bool
      end

      # If the kernel chose the port of the first listener, the others use the same.
      def listener(address)
        port = @listeners.empty? ? @port : port(@listeners.first)
        server = listen(Addrinfo.tcp(address.ip_address, port))
        uri = Tcp.uri(Addrinfo.tcp(address.ip_address, server.local_address.ip_port))
        Listener.new(server, uri, @bind, nil, false, proxy_protocol)
      end

      def port(listener)
        listener.socket.local_address.ip_port
      end

      def listen(address)
        return Jvm.listen(address, **@options.slice(:backlog, :reuse_port)) if RUBY_ENGINE == "jruby"

        socket = Socket.new(address.afamily, :STREAM)
        socket.setsockopt(:SOCKET, :REUSEADDR, true)
        socket.setsockopt(:SOCKET, :REUSEPORT, true) if @options[:reuse_port]
        socket.setsockopt(:IPV6, :V6ONLY, address.ip_address != "::") if address.ipv6?
        socket.bind(address)
        socket.listen(@options[:backlog])
        socket.autoclose = false
        TCPServer.for_fd(socket.fileno)
      rescue SystemCallError
        socket&.close
        raise
      end

      def reason(error)
        case error
        when Errno::EADDRINUSE then "the port is in use"
        when Errno::EACCES then "this user may not use the port"
        when Errno::EADDRNOTAVAIL then "this machine has no address #{@host}"
        else error.message
        end
      end
    end
  end
end
