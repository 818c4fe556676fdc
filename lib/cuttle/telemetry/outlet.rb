# frozen_string_literal: true

require "io/wait"
require "socket"

module Cuttle
  module Telemetry
    # Where an Output writes. #write takes as much as the reader has room for, and doesn't wait for it; #wait does. The
    # flags of a descriptor stay as they are, because other processes may share its file description, and an O_NONBLOCK
    # would affect them. So it depends on the kind of file how a write is kept from waiting:
    #
    #   Outlet      a regular file, which never waits for a reader; what is no descriptor; all descriptors on JRuby
    #   Reopened    a pipe or a terminal: a file description of our own, with O_NONBLOCK
    #   Connected   a socket, such as systemd's journal, which can't be opened again: each call says that it won't wait
    #   Shared      what this user may not open again, such as a pipe of another user: asked for room before each write
    class Outlet
      # The Outlet for +io+, which is neither changed nor closed.
      def self.of(io)
        return new(io) unless io.respond_to?(:fileno) && io.fileno
        return new(io.fileno <= 2 ? same(io) : io.dup) if io.stat.file?
        return new(io.dup) if RUBY_ENGINE == "jruby" # whose descriptors are its own

        io.stat.socket? ? Connected.of(io) : Reopened.of(io)
      end

      # The descriptor of +io+, without its buffer: it follows a Redirection. (Ruby never closes the first three.)
      def self.same(io)
        RUBY_ENGINE == "jruby" ? io : IO.for_fd(io.fileno, "a", autoclose: false)
      end
      private_class_method :same

      def initialize(io)
        @io = io
      end

      # Writes +text+ as far as it is taken. Returns the number of octets, or :wait_writable. Raises SystemCallError and
      # IOError.
      def write(text)
        @io.syswrite(text)
      end

      # Returns once the reader has room.
      def wait
        @io.wait_writable
      end

      # See Outlet.
      class Reopened < Outlet
        def self.of(io)
          new(File.open("/proc/self/fd/#{io.fileno}", File::WRONLY | File::APPEND | File::NONBLOCK | File::NOCTTY))
        rescue SystemCallError
          Shared.new(io.dup)
        end

        def write(text)
          @io.write_nonblock(text, exception: false)
        end
      end

      # See Outlet.
      class Connected < Outlet
        def self.of(io)
          copy = io.dup
          copy.autoclose = false
          new(BasicSocket.for_fd(copy.fileno))
        end

        def write(text)
          @io.sendmsg_nonblock(text, exception: false)
        end
      end

      # See Outlet. If there is room, there is room for PIPE_BUF octets. Another process may take it in between, and
      # then the write waits. But Linux lets short lines share the last page of a full pipe, so that takes many
      # processes at the same moment.
      class Shared < Outlet
        PIPE_BUF = RUBY_PLATFORM.include?("linux") ? 4096 : 512

        def write(text)
          return :wait_writable unless room?

          @io.syswrite(text.bytesize > PIPE_BUF ? text.byteslice(0, PIPE_BUF) : text)
        rescue Errno::EAGAIN # somebody else has set O_NONBLOCK
          :wait_writable
        end

        private

        # A fiber would pause in wait_writable.
        def room?
          IO.select(nil, [@io], nil, 0) # rubocop:disable Lint/IncompatibleIoSelectWithFiberScheduler
        end
      end
    end
  end
end
