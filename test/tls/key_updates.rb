# frozen_string_literal: true

# A client of TLS 1.3 that renews its keys as often as it likes (RFC 8446, 4.6.3), which Ruby's OpenSSL can't: it calls
# the C library.
class KeyUpdates
  FUNCTIONS = { "libssl" => %w[TLS_client_method SSL_CTX_new SSL_new SSL_set_fd SSL_connect SSL_set0_wbio SSL_key_update
                               SSL_do_handshake SSL_write],
                "libcrypto" => %w[BIO_s_mem BIO_new BIO_read] }.freeze

  # Why there can be no such client; nil if there can.
  def self.missing
    require "fiddle"
    "no library of OpenSSL is loaded" unless FUNCTIONS.keys.all? { |name| path(name) }
  rescue LoadError
    "Ruby's fiddle is not in the bundle"
  end

  # The file of a library that this process has loaded.
  def self.path(name) = File.foreach("/proc/self/maps").map { |line| line.split.last }.grep(/#{name}\b/).first

  # Makes the handshake over a connected +socket+.
  def initialize(socket)
    @libraries = FUNCTIONS.transform_keys { |name| Fiddle.dlopen(KeyUpdates.path(name)) }
    @ssl = call("SSL_new", call("SSL_CTX_new", call("TLS_client_method")))
    call("SSL_set_fd", @ssl, socket.fileno)
    socket.wait_readable until number("SSL_connect", @ssl) == 1
    call("SSL_set0_wbio", @ssl, @octets = call("BIO_new", call("BIO_s_mem"))) # instead of the socket
  end

  # The octets of so many renewals, and of +data+ after them.
  def records(count, data)
    count.times { number("SSL_key_update", @ssl, 0) && number("SSL_do_handshake", @ssl) }
    number("SSL_write", @ssl, data, data.bytesize)
    written = "".b
    room = "\0".b * 65_536
    while (length = number("BIO_read", @octets, room, room.bytesize)).positive?
      written << room.byteslice(0, length)
    end
    written
  end

  private

  def number(name, *arguments) = call(name, *arguments, result: Fiddle::TYPE_INT)

  def call(name, *arguments, result: Fiddle::TYPE_VOIDP)
    library, = @libraries.find { |_, names| names.include?(name) }
    types = arguments.map { |argument| argument.is_a?(Integer) ? Fiddle::TYPE_INT : Fiddle::TYPE_VOIDP }
    Fiddle::Function.new(library[name], types, result).call(*arguments)
  end
end
