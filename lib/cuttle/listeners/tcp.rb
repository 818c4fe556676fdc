# frozen_string_literal: true

module Cuttle
  class Listeners
    # tcp://host:port. A name listens on each of its local addresses; [::] also takes IPv4.
    module Tcp
      FORM = %r{\Atcp://(?:\[(?<v6>[0-9a-fA-F:.]+(?:%\w+)?)\]|(?<host>[^\[\]:/?\#@\s]+)):(?<port>\d{1,5})\z}

      class << self
        # Host and port of +uri+. Raises ArgumentError.
        def parse(uri)
          match = FORM.match(uri) or raise ArgumentError, "give tcp://host:port (tcp://[::1]:9292 for IPv6)"
          port = Integer(match[:port], 10)
          raise ArgumentError, "give a port from 0 to 65535" if port > 65_535

          [match[:v6] || match[:host], port]
        end

        # One Listener for each address of the host, all on the same port. Raises Error.
        def open(uri)
          host, port = parse(uri)
          opened = []
          missing = nil
          addresses(host, port).each do |address|
            opened << listener(address, opened.first)
          rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT => error
            missing = error
          end
          opened.empty? ? raise(missing) : opened
        rescue SystemCallError, SocketError => error
          opened&.each(&:close)
          raise Error, "can't listen on #{uri}: #{reason(error, host)}"
        end

        private

        def addresses(host, port)
          Addrinfo.getaddrinfo(host, port, nil, :STREAM, nil, Socket::AI_PASSIVE).uniq(&:ip_address)
        end

        # +first+ is the first listener of the name. If the kernel chose its port, the others use the same port.
        def listener(address, first)
          port = first ? first.socket.local_address.ip_port : address.ip_port
          server = listen(Addrinfo.tcp(address.ip_address, port))
          port = server.local_address.ip_port
          Listener.new(server, "http://#{address.ipv6? ? "[#{address.ip_address}]" : address.ip_address}:#{port}")
        end

        def listen(address)
          return Jvm.listen(address, BACKLOG) if RUBY_ENGINE == "jruby"

          socket = Socket.new(address.afamily, :STREAM)
          socket.setsockopt(:SOCKET, :REUSEADDR, true)
          socket.setsockopt(:IPV6, :V6ONLY, address.ip_address != "::") if address.ipv6?
          socket.bind(address)
          socket.listen(BACKLOG)
          socket.autoclose = false
          TCPServer.for_fd(socket.fileno)
        rescue SystemCallError
          socket&.close
          raise
        end

        def reason(error, host)
          case error
          when Errno::EADDRINUSE then "the port is in use"
          when Errno::EACCES then "this user may not use the port"
          when Errno::EADDRNOTAVAIL then "this machine has no address #{host}"
          when SocketError then "no address is known for #{host}"
          else error.message
          end
        end
      end
    end
  end
end
