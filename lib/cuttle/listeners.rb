# frozen_string_literal: true

require "socket"

module Cuttle
  # The sockets that a server listens on, made in this one place from URIs: tcp://host:port (a name, 127.0.0.1, [::1])
  # and unix:///path. Made before the fork and shared by every worker; closed by whoever made them, who also takes
  # a Unix socket's file away.
  class Listeners
    autoload :Tcp, "cuttle/listeners/tcp"
    autoload :Unix, "cuttle/listeners/unix"

    # Connections that the kernel holds for us until a worker has a thread for them (net.core.somaxconn may lower it).
    BACKLOG = 1024

    KINDS = { "tcp" => :Tcp, "unix" => :Unix }.freeze

    class << self
      # Listens on every one of +uris+, or on none. Raises Error.
      def open(uris)
        opened = []
        uris.each { |uri| opened.concat(kind(uri).open(uri)) }
        new(opened)
      rescue StandardError
        opened.each(&:close)
        raise
      end

      # +uri+ as given, where it is one that #open understands. Raises ArgumentError, saying what is wrong with it.
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

    # A listening socket, the URI a client reaches it by, and what to do at its end. The process that made it owns it.
    Listener = Struct.new(:socket, :uri, :release) do
      def close
        release&.call # first: an open socket keeps its file's inode from being another's
        socket.close
      end
    end

    # The first TCP port; nil where there are only Unix sockets.
    attr_reader :port

    def initialize(listeners)
      @listeners = listeners
      @port = sockets.grep(TCPServer).first&.local_address&.ip_port
      @owner = Process.pid
    end

    # TCPServers and UNIXServers.
    def sockets
      @listeners.map(&:socket)
    end

    # Where clients reach them: the ports that the kernel chose instead of 0.
    def uris
      @listeners.map(&:uri)
    end

    # Stops listening in this process. Only the owner's call takes a Unix socket's file away.
    def close
      owner = Process.pid == @owner
      @listeners.each { |listener| owner ? listener.close : listener.socket.close }
    end
  end
end
