# frozen_string_literal: true

require "socket"

module Cuttle
  # The sockets that a server listens on. This is the only place that makes them, from URIs: tcp://host:port (a name,
  # 127.0.0.1, [::1]), ssl://host:port?cert=FILE&key=FILE, unix:///path and unix://@name, which Options may follow. They
  # are made before the fork and shared by every worker. The process that made them closes them, and removes the file of
  # a Unix socket. systemd may pass some instead (see Inherited), and a process that executes itself in place passes its
  # own on:
  #
  #   listeners.keep_over_exec { exec(listeners.inheritance, *command) }        # in the old program
  #
  #   inherited = Listeners::Inherited.take(report: report)                     # in the new one, first of all
  #   listeners = Listeners.open(uris, inherited: inherited)
  class Listeners
    autoload :Abstract, "cuttle/listeners/abstract"
    autoload :Children, "cuttle/listeners/children"
    autoload :DevCertificate, "cuttle/listeners/dev_certificate"
    autoload :Inherited, "cuttle/listeners/inherited"
    autoload :Jvm, "cuttle/listeners/jvm" if RUBY_ENGINE == "jruby" # a ServerSocket, which others lack
    autoload :Options, "cuttle/listeners/options"
    autoload :Ssl, "cuttle/listeners/ssl"
    autoload :Tcp, "cuttle/listeners/tcp"
    autoload :Tls, "cuttle/listeners/tls"
    autoload :Unix, "cuttle/listeners/unix"

    # Connections that the kernel holds until a worker has a thread for them (net.core.somaxconn may lower it), if the
    # URI doesn't say.
    BACKLOG = 1024

    KINDS = { "tcp" => :Tcp, "ssl" => :Ssl, "unix" => :Unix }.freeze

    class << self
      # Listens on all +uris+, or on none. Sockets of +inherited+ (an Inherited) are used if they match a URI. With
      # +activated+, sockets that systemd passed are used in any case; if it is "only" and there are such sockets, no
      # others are used. Unused sockets of +inherited+ are closed. Raises Error.
      def open(uris, inherited: nil, activated: false)
        inherited ||= Inherited.new([])
        binds = uris.map { |uri| kind(uri).new(uri) }
        only = activated == "only" && inherited.activated?
        inherited.close_own if only
        binds.each { |bind| bind.adopt(inherited) }
        further = activated ? inherited.adopt_activated : []
        inherited.close # before others are opened, which may need an address of theirs
        binds.each(&:open) unless only
        new(binds.flat_map(&:listeners) + further)
      rescue StandardError
        [*binds&.flat_map(&:listeners), *further].each(&:close)
        raise
      end

      # +uri+ as given, if #open understands it. Raises ArgumentError, which says what is wrong with it.
      def check(uri)
        uri.to_s.dup.freeze.tap { |text| kind(text).new(text) }
      end

      # +uri+ with the path of a Unix socket made absolute; a relative one begins at +base+.
      def absolute(uri, base = ".")
        uri.sub(%r{\Aunix:(?://)?+([^?]+)}) { "unix://#{File.expand_path($1, base)}" }.freeze
      end

      # Whether +uri+ says that a trusted peer's connection begins with a PROXY header; nil: it doesn't say.
      def proxy_protocol(uri)
        kind(uri).new(uri).proxy_protocol
      end

      # The Tls that secures the connections of +uri+, not prepared yet; nil if they are plain.
      def tls(uri)
        bind = kind(uri).new(uri)
        bind.tls if bind.is_a?(Ssl)
      end

      private

      def kind(uri)
        return Abstract if uri.match?(Abstract::FORM)

        const_get(KINDS.fetch(uri[/\A([a-z]+):/, 1]) do
          raise ArgumentError, "give tcp://host:port, ssl://host:port or unix:///path"
        end)
      end
    end

    # A listening +socket+, and the +uri+ that clients use. +bind+ is the URI of the settings that it was opened for.
    # +identity+ is that of the Unix socket's file if the file is ours to remove. +activated+: systemd made the socket.
    # +proxy_protocol+ is what its URI says of that, or nil. +tls+ is the Tls that secures its connections, or nil. The
    # process that makes this owns it.
    Listener = Struct.new(:socket, :uri, :bind, :identity, :activated, :proxy_protocol, :tls) do
      def initialize(*)
        super
        @owner = Process.pid
      end

      # From now on it is open for +bind+, with the +options+ of that URI. A socket that systemd made stays unchanged.
      def adopted(bind, options)
        self.bind = bind
        self.proxy_protocol = options[:proxy_protocol]
        socket.listen(options[:backlog]) unless activated
        Unix.permit(path, options[:mode]) if options[:mode] && identity
        self
      end

      # The path of a Unix socket that has a file.
      def path
        uri[%r{\Aunix://(/.*)}m, 1]
      end

      # Removes the file of a Unix socket, if this process owns it, and forgets it: once the socket is closed, the file
      # of a successor may get the same inode. So call this before anything closes the socket. Raises nothing.
      def unlink
        Unix.remove(path, identity) if identity && Process.pid == @owner
        self.identity = nil
      end

      # Only the owner removes the file.
      def close
        unlink
        socket.close
      end
    end

    # The first TCP port; nil if there are only Unix sockets.
    attr_reader :port

    def initialize(listeners)
      @listeners = listeners
      @port = sockets.map(&:local_address).find(&:ip?)&.ip_port
    end

    # TCPServers and UNIXServers; on JRuby a Jvm for each TCPServer.
    def sockets
      @listeners.map(&:socket)
    end

    # For each socket, whether a trusted peer's connection begins with a PROXY header: what its URI says, or +default+.
    def proxy_protocols(default)
      @listeners.map { |one| one.proxy_protocol.nil? ? default : one.proxy_protocol }
    end

    # Whether some connections are secured.
    def secure? = securities.any?

    # Makes what secures the connections, with +library+, the class of Tls#native. The block returns the files [cert,
    # key] for a URI that names none. Call it before the fork. Raises Error.
    def secure(library, &local)
      securities.each { |tls| tls.prepare(library, &local) }
      self
    end

    # For each socket the Tls that secures its connections, or nil; nil if all are plain.
    def tls
      @listeners.map { |one| one.tls&.native } if secure?
    end

    # Reads certificates again whose files have changed and are complete (Tls#refresh). Raises nothing.
    def refresh(now = Cuttle.now)
      securities.each { |tls| tls.refresh(now) }
    end

    # Reads all certificates again. Raises nothing.
    def reopen
      securities.each(&:reload)
    end

    # The URIs that clients use, with the ports that the kernel chose instead of 0.
    def uris
      @listeners.map(&:uri)
    end

    # Removes the files of Unix sockets, if this process owns them. A successor may then make its own. A file that can't
    # be removed is reported, and stays.
    def unlink
      @listeners.each(&:unlink)
    end

    # Stops listening in this process. Only the owner removes the file of a Unix socket.
    def close
      @listeners.each(&:close)
      Children.forget(self)
    end

    # Closes the sockets of this process and leaves the files. For a child that must not keep the sockets.
    def close_copies
      sockets.each(&:close)
      Children.forget(self)
    end

    # The same sockets by other descriptors, which are guarded as these are.
    def copy
      copy = Listeners.new(@listeners.map { |one| Listener.new(one.socket.dup, *one.values.drop(1)) })
      Children.guarded?(self) ? copy.guard : copy
    end

    # From now on a child that the app forks closes its copies of these (Children). Returns self.
    def guard
      Children.guard(self)
      self
    end

    # Calls the block, which forks a process that must keep these.
    def pass_on(&block)
      Children.pass_on(&block)
    end

    # These, and +others+ (Listeners) for another +purpose+ (a word), for a program that inherits both (Inherited#part).
    def with(others, purpose)
      Listeners.new(@listeners + others.to_a.each { |listener| listener.bind = "#{purpose} #{listener.bind}" })
    end

    # A copy of each Listener, with the same socket.
    def to_a = @listeners.map(&:dup)

    # Environment variables with which the program that this process executes finds these sockets (see Inherited).
    def inheritance
      Inherited.write(@listeners)
    end

    # Yields while the sockets stay open over an exec. If that fails, they don't stay open over the next one.
    def keep_over_exec
      sockets.each { |socket| socket.close_on_exec = false }
      yield
    ensure
      sockets.each { |socket| socket.close_on_exec = true }
    end

    private

    def securities
      @listeners.filter_map(&:tls).uniq
    end
  end
end
