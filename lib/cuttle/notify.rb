# frozen_string_literal: true

require "socket"

module Cuttle
  # Tells systemd how the server is (Type=notify, sd_notify(3)): datagrams of VARIABLE=value lines to the socket that
  # NOTIFY_SOCKET names. Without that variable nothing is sent. No method raises, because an unreachable systemd must
  # not stop a server. Each returns whether the message was sent. Any thread may call them; systemd listens to the main
  # process only, unless NotifyAccess= says otherwise.
  module Notify
    # A path, or @ and a name without a file.
    ADDRESS = %r{\A[/@].}

    # Seconds that a message may wait for systemd to take it.
    PATIENCE = 1

    # Keeps systemd's watchdog satisfied, for a thread that wakes up in time. Times are on the monotonic clock.
    class Heartbeat
      def initialize
        @every = Notify.watchdog
        @due = 0
      end

      # Sends a sign of life if it is time for one.
      def beat(now)
        return unless @every && @due <= now

        Notify.alive
        @due = now + @every
      end

      # Calls the block, which may take long, while another thread sends signs of life.
      def during
        thread = @every && Thread.new { keep_alive }
        yield
      ensure
        thread&.kill&.join
      end

      # Seconds until the next sign of life; nil if systemd expects none.
      def wake_in(now)
        [@due - now, 0].max if @every
      end

      private

      def keep_alive
        loop do
          Notify.alive
          sleep @every
        end
      end
    end

    class << self
      # The server accepts connections; also the end of a reload.
      def ready(status = nil)
        tell("READY=1", *status_line(status))
      end

      # It began to stop.
      def stopping(status = nil)
        tell("STOPPING=1", *status_line(status))
      end

      # It began to load a configuration or an app. Type=notify-reload compares the time.
      def reloading(status = nil)
        tell("RELOADING=1", "MONOTONIC_USEC=#{Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond)}",
             *status_line(status))
      end

      # One line for `systemctl status`.
      def status(text)
        tell(*status_line(text))
      end

      # Satisfies the watchdog until the next time (see #watchdog).
      def alive
        tell("WATCHDOG=1")
      end

      # The process that systemd watches from now on.
      def main_pid(pid = Process.pid)
        tell("MAINPID=#{pid}")
      end

      # Seconds from one #alive to the next, half of what systemd allows (sd_watchdog_enabled(3)). nil if it does not
      # watch this process.
      def watchdog(variables = ENV)
        process = variables["WATCHDOG_PID"]
        microseconds = Integer(variables["WATCHDOG_USEC"], 10, exception: false)
        return unless microseconds&.positive? && (process.nil? || process == Process.pid.to_s)

        microseconds / 2_000_000.0
      end

      # Sends +lines+ in one message.
      def tell(*lines, variables: ENV)
        address = variables["NOTIFY_SOCKET"]
        return false unless address&.match?(ADDRESS)

        open(address) do |socket|
          socket.wait_writable(PATIENCE)
          !socket.write_nonblock(lines.join("\n"), exception: false).is_a?(Symbol)
        end
      rescue StandardError, NotImplementedError
        false
      end

      private

      def status_line(text)
        text && ["STATUS=#{text.to_s.tr("\r\n", " ")}"]
      end

      def open(address)
        socket = Socket.new(:UNIX, :DGRAM)
        socket.connect(Addrinfo.unix(address.sub(/\A@/, "\0"), :DGRAM))
        yield socket
      ensure
        socket&.close
      end
    end
  end
end
