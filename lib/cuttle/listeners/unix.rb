# frozen_string_literal: true

module Cuttle
  class Listeners
    # unix:///path. Replaces a file that a dead server left behind, but not one on which another process listens.
    module Unix
      FORM = %r{\Aunix://(?<path>[^\0?\#]+)\z}

      class << self
        # The path of +uri+. Raises ArgumentError.
        def parse(uri)
          FORM.match(uri)&.[](:path) or raise ArgumentError, "give unix:///path"
        end

        # An Array of one Listener. Raises Error.
        def open(uri)
          path = File.expand_path(parse(uri))
          server = claim(path)
          server.listen(BACKLOG)
          identity = identity(path)
          [Listener.new(server, "unix://#{path}", -> { File.unlink(path) if identity(path) == identity })]
        rescue SystemCallError, ArgumentError => error
          server&.close
          raise Error, "can't listen on #{uri}: #{reason(error, path)}"
        end

        private

        def claim(path)
          bind(path)
        rescue Errno::EADDRINUSE
          raise unless stale?(path)

          File.unlink(path)
          bind(path)
        end

        def bind(path)
          with_system_errors { UNIXServer.new(path) }
        end

        # JRuby raises an IOError with the system's text instead.
        def with_system_errors
          yield
        rescue IOError => error
          kind = [Errno::EADDRINUSE, Errno::ECONNREFUSED, Errno::EACCES, Errno::ENOENT, Errno::ENOTDIR, Errno::EROFS]
          raise kind.find { |one| one.new.message == error.message } || error
        end

        # A socket whose server is dead refuses connections.
        def stale?(path)
          return false unless File.socket?(path)

          with_system_errors { UNIXSocket.new(path) }.close
          false
        rescue Errno::ECONNREFUSED
          true
        end

        # Distinguishes our file from one that another server has since put in its place.
        def identity(path)
          File.stat(path).then { |stat| [stat.dev, stat.ino] }
        rescue Errno::ENOENT
          nil
        end

        def reason(error, path)
          case error
          when Errno::EADDRINUSE then File.socket?(path) ? "somebody listens there" : "the file exists and is no socket"
          when Errno::EACCES, Errno::EROFS then "this user may not make the file"
          when Errno::ENOENT, Errno::ENOTDIR then "its directory does not exist"
          when ArgumentError then "the path is too long for a socket"
          else error.message
          end
        end
      end
    end
  end
end
