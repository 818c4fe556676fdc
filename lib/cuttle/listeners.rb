# frozen_string_literal: true

require "socket"

module Cuttle
  # The sockets that a server listens on. This is the only place that makes them, from URIs: tcp://host:port (a name,
  # 127.0.0.1, [::1]) and unix:///path. They are made before the fork and shared by every worker. The process that made
  # them closes them, and removes the file of a Unix socket.
  class Listeners
    autoload :Jvm, "cuttle/listeners/jvm" if RUBY_ENGINE == "jruby" # a ServerSocket, which others lack
    autoload :Tcp, "cuttle/listeners/tcp"
    autoload :Unix, "cuttle/listeners/unix"

    # Connections that the kernel holds until a worker has a thread for them (net.core.somaxconn may lower it).
    BACKLOG = 1024

    KINDS = { "tcp" => :Tcp, "unix" => :Unix }.freeze

    class << self
      # Listens on all +uris+, or on none. Raises Error.
      def open(uris)
        opened = []
        uris.each { |uri| opened.concat(kind(uri).open(uri)) }
        new(opened)
      rescue StandardError
        opened.each(&:close)
        raise
      end

      # +uri+ as given, if #open understands it. Raises ArgumentError, which says what is wrong with it.
      def check(uri)
        uri.to_s.dup.freeze.tap { |text| kind(text).parse(text) }
      end

      private

      def kind(uri)
        const_get(KINDS.fetch(uri[/\A([a-z]+):/, 1]))
      rescue KeyError
        raise ArgumentError, "give tcp://host:port or unix:///path"
      end
    end

    # A listening socket, the URI that clients use, and a cleanup for its end. The process that made it owns it.
    Listener = Struct.new(:socket, :uri, :release) do
      def close
        release&.call # first: while the socket is open, no other file gets its inode
        socket.close
      end
    end

    # The first TCP port; nil if there are only Unix sockets.
    attr_reader :port

    def initialize(listeners)
      @listeners = listeners
      @port = sockets.map(&:local_address).find(&:ip?)&.ip_port
      @owner = Process.pid
    end

    # TCPServers and UNIXServers; on JRuby a Jvm for each TCPServer.
    def sockets
      @listeners.map(&:socket)
    end

    # The URIs that clients use, with the ports that the kernel chose instead of 0.
    def uris
      @listeners.map(&:uri)
    end

    # Stops listening in this process. Only the owner removes the file of a Unix socket.
    def close
      owner = Process.pid == @owner
      @listeners.each { |listener| owner ? listener.close : listener.socket.close }
    end
  end
end
