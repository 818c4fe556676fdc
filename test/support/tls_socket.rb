# frozen_string_literal: true

require "openssl"
require "socket"

# TLS for WireClient: the socket interface that it needs, over a connected socket. An end without close_notify counts as
# a reset.
class TlsSocket
  # +ca+: a file to verify the server with. +versions+: [min, max]. +cert+ and +key+ are objects. The handshake may take
  # +deadline+ seconds. With +patience+ (seconds), a thread continues a longer handshake, and writes wait for it: the
  # server may not have accepted the connection yet.
  def initialize(socket, deadline:, patience: nil, ca: nil, hostname: nil, session: nil, versions: nil, alpn: nil,
                 cert: nil, key: nil)
    @socket = socket
    @ssl = OpenSSL::SSL::SSLSocket.new(socket, TlsSocket.context(ca, versions, alpn, cert, key))
    @ssl.sync_close = true
    @ssl.hostname = hostname if hostname
    @ssl.session = session if session
    connect(patience || deadline) || patience || raise("no handshake within #{deadline} s")
    @waiting = []
    @lock = Mutex.new # guards the waiting octets, and whether octets may still wait
    @later = Thread.new { connect_later(deadline) } unless @connected
  rescue StandardError
    socket.close
    raise
  end

  def self.context(authority, versions, alpn, cert, key)
    OpenSSL::SSL::SSLContext.new.tap do |context|
      context.verify_mode = authority ? OpenSSL::SSL::VERIFY_PEER : OpenSSL::SSL::VERIFY_NONE
      context.ca_file = authority if authority
      context.min_version, context.max_version = versions if versions
      context.alpn_protocols = alpn if alpn
      context.add_certificate(cert, key) if cert
    end
  end

  attr_reader :ssl

  def write_nonblock(bytes, **)
    @lock.synchronize do
      if later?
        @waiting << bytes.dup
        return bytes.bytesize
      end
    end
    @ssl.write_nonblock(bytes, exception: false)
  rescue OpenSSL::SSL::SSLError
    raise Errno::ECONNRESET
  end

  def read_nonblock(most, room, **)
    return :wait_readable if later?

    @ssl.read_nonblock(most, room, exception: false)
  rescue OpenSSL::SSL::SSLError
    raise Errno::ECONNRESET
  end

  def wait_readable(seconds)
    later? ? @later.join(seconds) : @socket.wait_readable(seconds)
  end

  def wait_writable(seconds) = @socket.wait_writable(seconds)
  def setsockopt(...) = @socket.setsockopt(...)
  def getsockopt(...) = @socket.getsockopt(...)
  def local_address = @socket.local_address

  # close_notify, then FIN.
  def shutdown(how)
    @later&.join

    @ssl.__send__(:stop)
    @socket.shutdown(how)
  end

  def close
    @later&.kill&.join
    @ssl.close
  rescue OpenSSL::SSL::SSLError, SystemCallError
    @socket.close unless @socket.closed?
  end

  private

  # Whether the thread still handles the connection.
  def later?
    @later && !@handed_over
  end

  # Octets that were written meanwhile follow. If the peer has ended the connection, reading shows it.
  def connect_later(deadline)
    connect(deadline)
  rescue OpenSSL::SSL::SSLError, SystemCallError
    nil
  ensure
    hand_over
  end

  def hand_over
    @lock.synchronize do
      @ssl.write(@waiting.shift) until @waiting.empty?
    rescue OpenSSL::SSL::SSLError, SystemCallError
      nil
    ensure
      @handed_over = true
    end
  end

  # Returns whether the handshake ended in time.
  def connect(seconds)
    ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
    until @connected
      wanted = @ssl.connect_nonblock(exception: false)
      @connected = wanted == @ssl
      left = ends - Process.clock_gettime(Process::CLOCK_MONOTONIC)
      return false unless @connected || ready_for(wanted, left)
    end
    true
  end

  def ready_for(wanted, seconds)
    return false if seconds <= 0

    wanted == :wait_readable ? @socket.wait_readable(seconds) : @socket.wait_writable(seconds)
  end
end
