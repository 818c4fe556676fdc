# frozen_string_literal: true

require "ipaddr"

module Cuttle
  module Cores
    module Pure
      # IP addresses as Integers of 128 bits. IPv4 is in its IPv6 form, ::ffff:a.b.c.d (RFC 4291, 2.5.5.2), so that a
      # client of a listener for both families is the same client.
      module Address
        BITS = 128
        V4_BITS = 32
        MAPPED = 0xffff << V4_BITS
        OCTET = /25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d/
        V4 = /\A#{OCTET}(?:\.#{OCTET}){3}\z/
        GROUP = /\A\h{1,4}\z/
        LONGEST = 45 # octets of a text

        class << self
          # The address that a text of dotted decimal without leading zeros, or of IPv6 without a zone (RFC 4291, 2.2),
          # means; nil for anything else.
          def parse(text)
            return if text.bytesize > LONGEST
            return MAPPED | v4(text) if text.match?(V4)

            before, gap, after = text.partition("::")
            left = groups(before, gap.empty?)
            right = groups(after, true)
            return unless left && right && (gap.empty? ? left.size == 8 : left.size + right.size <= 7)

            number([*left, *Array.new(8 - left.size - right.size, 0), *right], 16)
          end

          # The address of 4 or 16 octets.
          def from_octets(octets)
            octets.bytesize == 4 ? MAPPED | number(octets.bytes, 8) : number(octets.bytes, 8)
          end

          # An address as text in its shortest form (RFC 5952): IPv4 in dotted decimal.
          def text(address)
            return -[address & 0xffffffff].pack("N").bytes.join(".") if address >> V4_BITS == 0xffff

            -IPAddr.new(address, Socket::AF_INET6).to_s
          end

          private

          def v4(text)
            number(text.split(".").map(&:to_i), 8)
          end

          # The groups of a part of an IPv6 address; nil if one is malformed. The last two may be written as IPv4.
          def groups(text, last)
            parts = text.split(":", -1)
            tail = v4(parts.pop).divmod(1 << 16) if last && parts.last&.match?(V4)
            parts.map(&:hex) + tail.to_a if parts.all?(GROUP)
          end

          def number(digits, bits)
            digits.inject(0) { |sum, digit| sum << bits | digit }
          end
        end
      end
    end
  end
end
