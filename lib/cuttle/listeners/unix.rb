# frozen_string_literal: true

module Cuttle
  class Listeners
    # unix:///path, or unix:path. Replaces a file that a dead server left behind, but not one on which another process
    # listens.
    class Unix
      FORM = %r{\A(?<bind>unix:(?://)?+(?<path>[^\0\n?\#]+))(?:\?(?<options>[\w=&]*))?\z}

      OPTIONS = %w[backlog umask mode proxy_protocol].freeze

      class << self
        # Removes the file if it still has that +identity+. If the system refuses that, one line says so. The next
        # server replaces the file.
        def remove(path, identity)
          File.unlink(path) if identity(path) == identity
        rescue SystemCallError => error
          Cuttle.report("can't remove #{path}: #{error.class.new.message}")
        end

        # Gives the file that mode, unless it has it. If the system refuses that, as for a file that has another owner
        # by now, one line says so, and the mode stays.
        def permit(path, mode)
          File.chmod(mode, path) unless File.stat(path).mode & 0o7777 == mode
        rescue SystemCallError => error
          Cuttle.report("can't give #{path} the mode #{mode.to_s(8)}: #{error.class.new.message}")
        end

        # Distinguishes our file from one that another server has since put in its place: device and inode. nil if there
        # is no file.
        def identity(path)
          File.stat(path).then { |stat| [stat.dev, stat.ino] }
        rescue Errno::ENOENT, Errno::ENOTDIR
          nil
        end

        # The URI that clients use for a socket at +path+. A path that begins with NUL is a name without a file
        # (Abstract).
        def uri(path)
          "unix://#{path.sub(/\A\0/, "@")}"
        end
      end

      # One Listener, as soon as it is adopted or opened.
      attr_reader :listeners

      # Raises ArgumentError, which says what to give.
      def initialize(uri)
        match = FORM.match(uri) or raise ArgumentError, "give unix:///path"
        @uri = uri
        @bind = match[:bind]
        @given = match[:path]
        @options = { backlog: BACKLOG, **Options.parse(match[:options], self.class::OPTIONS) }
        @listeners = []
      end

      # Whether a trusted peer's connection begins with a PROXY header; nil: the URI doesn't say.
      def proxy_protocol = @options[:proxy_protocol]

      # Takes its socket from +inherited+.
      def adopt(inherited)
        adopted = inherited.adopt { |listener| ours?(listener) }
        @listeners << adopted.adopted(@bind, @options) if adopted
      end

      # Listens, if it has no socket yet. Raises Error.
      def open
        return if @listeners.any?

        server = with_umask { claim }
        File.chmod(@options[:mode], path) if @options[:mode]
        server.listen(@options[:backlog])
        @listeners << Listener.new(server, Unix.uri(path), @bind, identity, false, proxy_protocol)
      rescue SystemCallError, ArgumentError => error
        server&.close
        raise Error, "can't listen on #{@uri}: #{reason(error)}"
      end

      private

      # Without the file no client would find it.
      def ours?(listener)
        listener.path && File.identical?(listener.path, path)
      end

      def identity = Unix.identity(path)

      # The working directory counts when the socket is opened.
      def path
        @path ||= File.expand_path(@given)
      end

      def with_umask
        before = File.umask(@options[:umask]) if @options[:umask]
        yield
      ensure
        File.umask(before) if before
      end

      # In turn with other servers: between bind(2) and listen(2) a new socket looks dead.
      def claim
        Turns.take(File.dirname(path)) { bind_or_replace }
      end

      def bind_or_replace
        bind
      rescue Errno::EADDRINUSE
        raise unless stale?

        File.unlink(path)
        bind
      end

      def bind
        with_system_errors { UNIXServer.new(path) }
      end

      # JRuby raises an IOError with the system's text instead.
      def with_system_errors
        yield
      rescue IOError => error
        kind = [Errno::EADDRINUSE, Errno::ECONNREFUSED, Errno::EACCES, Errno::ENOENT, Errno::ENOTDIR, Errno::EROFS]
        raise kind.find { |one| one.new.message == error.message } || error
      end

      # A socket whose server is dead refuses connections. One whose backlog is full doesn't, and Ruby does not wait
      # for room there.
      def stale?
        return false unless File.socket?(path)

        with_system_errors { UNIXSocket.new(path) }.close
        false
      rescue Errno::ECONNREFUSED
        true
      rescue Errno::EACCES
        @forbidden = true
        false
      end

      def reason(error)
        case error
        when Errno::EADDRINUSE then taken
        when Errno::EACCES, Errno::EPERM, Errno::EROFS then "this user may not make the file"
        when Errno::ENOENT, Errno::ENOTDIR then "its directory does not exist"
        when ArgumentError then "the path is too long for a socket"
        else error.message
        end
      end

      def taken
        return "another user's socket is there, to which this user may not connect" if @forbidden

        File.socket?(path) ? "another process listens there" : "the file exists and is not a socket"
      end
    end
  end
end
