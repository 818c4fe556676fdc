# frozen_string_literal: true

module Cuttle
  class Listeners
    # The listening sockets that this process was executed with: by itself in a restart in place, or by systemd.
    #
    # Of its own, the variable CUTTLE_LISTENERS says what they are. Its first line is the process that they are for,
    # because an exec keeps its number and a child has another. Then comes a line for each socket: the descriptor;
    # device and inode of the file that the process removes at its end, "-", or that systemd made the socket; the URI
    # that it was opened for, behind its purpose if that is another than to serve the app.
    #
    #   4711
    #   7 - tcp://127.0.0.1:0
    #   8 2049:1234 unix:///run/app/cuttle.sock
    #   3 activated tcp://0.0.0.0:80
    #   9 - control tcp://127.0.0.1:9293
    #
    # systemd's have the descriptors from 3 on, LISTEN_FDS of them, for the process LISTEN_PID (sd_listen_fds(3)). It
    # keeps such a socket open, and the socket's file is not ours.
    class Inherited
      VARIABLE = "CUTTLE_LISTENERS"
      ACTIVATION = %w[LISTEN_PID LISTEN_FDS LISTEN_FDNAMES].freeze

      # The first descriptor that systemd passes (SD_LISTEN_FDS_START).
      FIRST = 3

      LINE = /\A(?<fd>\d+) (?:-|(?<activated>activated)|(?<device>\d+):(?<inode>\d+)) (?<bind>\S.*)\z/

      class << self
        # The variable that describes +listeners+, as a Hash.
        def write(listeners)
          lines = listeners.map do |listener|
            origin = listener.activated ? "activated" : listener.identity&.join(":") || "-"
            "#{listener.socket.fileno} #{origin} #{listener.bind}"
          end
          { VARIABLE => [Process.pid, *lines].join("\n") }
        end

        # Takes the sockets that +variables+ describe, and deletes these variables, so that no child gets them. +report+
        # is called with one line about each that can't be used. Call this before anything opens descriptors.
        # +borrowed+: they belong to the process that started this one, so their files are not ours to remove.
        def take(variables = ENV, report:, borrowed: false)
          process, *lines = variables.delete(VARIABLE).to_s.lines(chomp: true)
          activator, count, = ACTIVATION.map { |name| variables.delete(name) }
          own = described(lines, report) if ours?(VARIABLE, process, report, borrowed ? Process.ppid : Process.pid)
          own&.each { |listener| listener.identity = nil } if borrowed
          passed = activated(count.to_i, report) if ours?("LISTEN_PID", activator, report)
          new([*own, *passed], report)
        end

        private

        # The process is another one if a shell in between does not use exec.
        def ours?(variable, process, report, expected = Process.pid)
          return true if process.nil? || process == expected.to_s

          report.call("#{variable} is for process #{process}, not for this one (#{Process.pid}): ignored")
          false
        end

        def described(lines, report)
          usable(lines, VARIABLE, report) do |line|
            match = LINE.match(line) or next
            identity = [match[:device].to_i, match[:inode].to_i] if match[:device]
            listener(match[:fd].to_i, match[:bind], identity, !match[:activated].nil?)
          end
        end

        def activated(count, report)
          usable(Array.new(count) { |index| FIRST + index }, "LISTEN_FDS", report) { |fd| listener(fd, nil, nil, true) }
        end

        # The Listeners that the block finds for +descriptions+.
        def usable(descriptions, variable, report)
          descriptions.filter_map do |description|
            found = yield description
            report.call("#{variable}: no listening stream socket, ignored: #{description}") unless found
            found
          end
        end

        def listener(fd, bind, identity, activated)
          socket = socket(fd) or return
          address = socket.local_address
          uri = address.unix? ? Unix.uri(address.unix_path) : Tcp.uri(address)
          Listener.new(socket, uri, bind || uri, identity, activated)
        end

        # The descriptor as a TCPServer or a UNIXServer; nil if it is not a listening socket of that kind.
        def socket(fd)
          socket = ::Socket.for_fd(fd)
          socket.autoclose = false
          address = socket.local_address
          return unless (address.ip? || address.unix?) && listening_stream?(socket)

          server = (address.ip? ? TCPServer : UNIXServer).for_fd(fd)
          server.close_on_exec = true
          server
        rescue SystemCallError, ArgumentError, NotImplementedError # not open, no socket, one of Ruby's own, JRuby
          nil
        end

        def listening_stream?(socket)
          socket.getsockopt(:SOCKET, :ACCEPTCONN).bool && socket.getsockopt(:SOCKET, :TYPE).int == ::Socket::SOCK_STREAM
        end
      end

      def initialize(listeners, report = nil)
        @listeners = listeners
        @report = report
      end

      # Whether some of them are systemd's.
      def activated?
        @listeners.any?(&:activated)
      end

      # Removes and returns the first Listener for which the block is true; nil if there is none.
      def adopt(&block)
        index = @listeners.find_index(&block)
        @listeners.delete_at(index) if index
      end

      # Removes and returns those of systemd.
      def adopt_activated
        found, @listeners = @listeners.partition(&:activated)
        found
      end

      # Removes those that were passed on for that +purpose+ (Listeners#with). Returns them, an Inherited.
      def part(purpose)
        parted, @listeners = @listeners.partition { |listener| listener.bind.start_with?("#{purpose} ") }
        parted.each { |listener| listener.bind = listener.bind.delete_prefix("#{purpose} ") }
        Inherited.new(parted, @report)
      end

      # Closes the sockets that were not adopted, and removes the files that are ours.
      def close
        adopt_activated.each do |listener|
          @report.call("not used: systemd's socket #{listener.uri}, see --bind-to-activated-sockets")
          listener.close
        end
        close_own
      end

      # Closes those that systemd did not make.
      def close_own
        own, @listeners = @listeners.partition { |listener| !listener.activated }
        own.each(&:close)
      end
    end
  end
end
