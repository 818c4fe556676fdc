# frozen_string_literal: true

require "ipaddr"

# Headers of the PROXY protocol, written independently of the server's parsers.
module ProxyHeaders
  SIGNATURE = "\r\n\r\n\0\r\nQUIT\n".b.freeze
  FAMILIES = { 4 => 0x11, 16 => 0x21 }.freeze

  module_function

  # Version 1.
  def v1(client, server = client.include?(":") ? "::1" : "127.0.0.1")
    "PROXY TCP#{client.include?(":") ? 6 : 4} #{client} #{server} 56324 443\r\n".b
  end

  # Version 2 with +records+ after the addresses.
  def v2(client, records = "")
    address = IPAddr.new(client).hton
    block(0x21, FAMILIES.fetch(address.bytesize), address * 2 + [56_324, 443].pack("nn") + records.b)
  end

  # Version 2 with any contents. +length+: the length that it declares for its block.
  def block(command, family, octets, length = octets.bytesize)
    SIGNATURE + [command, family, length].pack("CCn") + octets.b
  end

  # A connection that the proxy opens for itself.
  def local(octets = "") = block(0x20, 0, octets)

  def record(type, value) = [type, value.bytesize].pack("Cn") + value.b

  # The record for a client that uses TLS: PP2_TYPE_SSL with its bits, and the version inside.
  def tls(bits = 1) = record(0x20, [bits, 0].pack("CN") + record(0x21, "TLSv1.3"))
end
