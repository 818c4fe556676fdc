# frozen_string_literal: true

require "socket"
require_relative "eventually"
require_relative "response_reader"

# A client that sends exactly the given octets and reads responses strictly. It shares no code with the server, has a
# deadline on every wait, and distinguishes a connection that was closed in order from one that was reset and from one
# that is still open.
class WireClient
  # The peer did nothing until the deadline.
  class Silence < StandardError; end

  # The peer closed before the awaited octets were complete. +reset?+: whether the end was a reset.
  class Truncated < StandardError
    attr_reader :received

    def initialize(received, reset)
      super("connection #{reset ? "reset" : "closed"} inside a message, after #{received.inspect[0, 300]}")
      @received = received
      @reset = reset
    end

    def reset? = @reset
  end

  READ = 256 * 1024

  attr_reader :socket

  # Opens a connection, yields the client and closes it after.
  def self.open(address, **options)
    client = new(address, **options)
    yield client
  ensure
    client&.close
  end

  # +address+ is a port on 127.0.0.1, the path of a Unix socket, or an Addrinfo. +deadline+: the seconds of each wait.
  # +receive_buffer+: the octets that the kernel may buffer, for a client slower than the server. +from+: the client's
  # own address. +first+: octets that are sent before TLS begins. +tls+: the options of TlsSocket, for a client that
  # uses TLS.
  def initialize(address, deadline: Eventually::PATIENCE, receive_buffer: nil, from: nil, first: nil, tls: nil)
    @deadline = deadline
    @buffer = "".b
    @ended = nil
    @sent = false
    @socket = connect(address, receive_buffer, from)
    @socket.write(first) if first
    @socket = TlsSocket.new(@socket, deadline: deadline, **tls) if tls
  end

  # Sends the octets. If the peer has closed, that is no error here, because reading shows how it ended.
  def write(bytes)
    bytes = bytes.b
    until_deadline do |left|
      until bytes.empty?
        sent = @socket.write_nonblock(bytes, exception: false)
        if sent.is_a?(Integer)
          @sent = true
          bytes = bytes.byteslice(sent..)
        elsif !@socket.wait_writable(left.call)
          raise Silence, "the peer read nothing for #{@deadline} s"
        end
      end
    end
    self
  rescue Errno::EPIPE
    @ended = :reset unless @sent # the system reports a reset once, and has reported it to connect
    self
  rescue Errno::ECONNRESET
    @ended = :reset
    self
  end

  # Sends the octets, one per packet.
  def dribble(bytes)
    bytes.b.each_char { |octet| write(octet) }
    self
  end

  # Announces that nothing more will be sent (FIN), and continues to read.
  def half_close
    @socket.shutdown(Socket::SHUT_WR)
    self
  rescue Errno::ENOTCONN
    self
  end

  # Receives +after+ octets at the speed of this client, and then as fast as the server sends: a client that was slow
  # for long enough need not be slow to the end.
  def hurry(after: 0)
    fill until @buffer.bytesize >= after || @ended
    @socket.setsockopt(:SOCKET, :RCVBUF, READ)
    self
  end

  # Ends with a reset, as a client that vanished.
  def reset
    @socket.setsockopt(Socket::Option.linger(true, 0))
    close
  end

  def close = @socket.close

  # The next response, interim ones (1xx) included. +head+: it answers a HEAD.
  def response(head: false) = ResponseReader.new(self).read(head: head)

  # The next final response. The block gets interim responses before it.
  def final_response(head: false)
    loop do
      response = self.response(head: head)
      return response unless response.interim?

      yield response if block_given?
    end
  end

  # Sends a request and reads its final response.
  def ask(bytes, head: false) = write(bytes).final_response(head: head)

  # The state of the connection after the peer has had +seconds+: :closed, :reset or :open. Octets in place of an end
  # are an error, because nothing more may come.
  def ending(seconds = @deadline)
    fill(seconds) until @ended || !@buffer.empty?
    raise ResponseReader::Malformed, "surplus octets: #{@buffer.inspect[0, 300]}" unless @buffer.empty?

    @ended
  rescue Silence
    :open
  end

  # Everything the peer sends until it ends the connection, unparsed.
  def rest
    fill until @ended
    take(@buffer.bytesize)
  end

  # True if an octet, or the end of the connection, comes within +seconds+.
  def heard?(seconds)
    fill(seconds) if @buffer.empty? && !@ended
    true
  rescue Silence
    false
  end

  # The octets up to the first CRLF, without it.
  def line
    fill_or_truncated until (stop = @buffer.index("\r\n"))
    take(stop + 2).chomp("\r\n")
  end

  # The next +count+ octets.
  def exactly(count)
    fill_or_truncated while @buffer.bytesize < count
    take(count)
  end

  # The octets up to the orderly end of the connection.
  def to_end
    fill until @ended
    raise Truncated.new(@buffer, true) if @ended == :reset

    take(@buffer.bytesize)
  end

  # Octets that were received but not yet read as part of a message.
  def buffered = @buffer.dup

  # Receives once, for at most +seconds+; for a client that reads at its own speed.
  def fill(seconds = @deadline, most: READ)
    octets = @socket.read_nonblock(most, room, exception: false)
    if octets == :wait_readable
      raise Silence, "the peer sent nothing for #{seconds} s" unless @socket.wait_readable(seconds)

      return fill(seconds, most: most)
    end
    octets ? @buffer << octets : @ended = :closed
  rescue Errno::ECONNRESET
    @ended = :reset
  end

  private

  def connect(address, receive_buffer, from)
    return UNIXSocket.new(address) if address.is_a?(String)
    return address.connect if address.is_a?(Addrinfo)

    socket = Socket.new(:INET, :STREAM)
    socket.setsockopt(:SOCKET, :RCVBUF, receive_buffer) if receive_buffer
    socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, true)
    socket.bind(Socket.sockaddr_in(0, from)) if from
    socket.connect(Socket.sockaddr_in(address, "127.0.0.1"))
    socket
  end

  def until_deadline
    ends = now + @deadline
    yield -> { [ends - now, 0].max }
  end

  def fill_or_truncated
    raise Truncated.new(@buffer, @ended == :reset) if @ended

    fill
  end

  # All of it without a copy: it may be megabytes.
  def take(count)
    return @buffer.slice!(0, count) if count < @buffer.bytesize

    @buffer.tap { @buffer = "".b }
  end

  # One String for the reads of a thread's clients, so that clients don't make Ruby collect garbage.
  def room = Thread.current[:wire_client_room] ||= "".b

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
