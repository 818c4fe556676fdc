# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # The header of the PROXY protocol, versions 1 and 2, which a proxy sends before all else on a connection: who the
      # client is. HAProxy's doc/proxy-protocol.txt is the specification; the numbers below are its sections.
      class ProxyHeader
        # Raised when no further octets can make a header of the input.
        class Malformed < StandardError; end

        LINE = 107   # octets of version 1, with the CRLF (2.1)
        FIXED = 16   # octets of version 2 before the addresses (2.2)
        BLOCK = 2048 # octets after these, a limit of ours
        BEGINNING = "PROXY ".b.freeze
        SIGNATURE = "\r\n\r\n\0\r\nQUIT\n".b.freeze
        ADDRESSES = [0, 12, 36, 216].freeze # octets of both addresses and ports, by family: none, IPv4, IPv6, Unix
        NAMES = { 1 => 4, 2 => 16 }.freeze  # octets of the client's address, by family
        COMMANDS = 2   # LOCAL and PROXY
        TRANSPORTS = 3 # none, stream, datagram
        TLS_RECORD = 0x20 # PP2_TYPE_SSL (2.2)
        TLS_CLIENT = 0x01 # PP2_CLIENT_SSL (2.2.6)

        # The header that +octets+ begin with, or nil if they need more. Raises Malformed. The result does not depend on
        # how the octets were split into calls.
        def self.parse(octets)
          header = new
          header if header.read(octets)
        end

        # +client+: :named, :unknown (the proxy doesn't say who it is) or :itself (there is none: the proxy connects for
        # itself). +address+: of a named client. +bytesize+: octets of the header.
        attr_reader :client, :address, :bytesize

        # Whether the client speaks TLS with the proxy.
        def secure? = @secure ? true : false

        # Returns whether the header is complete. Raises Malformed.
        def read(octets)
          return version2(octets) if begins?(octets, SIGNATURE)

          demand(begins?(octets, BEGINNING))
          octets.bytesize >= BEGINNING.bytesize && version1(octets)
        end

        private

        def demand(kept)
          raise Malformed unless kept
        end

        def begins?(octets, word)
          octets.bytesize < word.bytesize ? word.start_with?(octets) : octets.start_with?(word)
        end

        # 2.1: "PROXY TCP4 192.0.2.1 192.0.2.2 56324 443" or "PROXY UNKNOWN …". The line ends at the first CR, which a
        # LF has to follow.
        def version1(octets)
          line = octets.byteslice(0, LINE)[/\A[^\r]*/n]
          demand(!line.include?("\n") && line.bytesize <= LINE - 2)
          return false if octets.bytesize < line.bytesize + 2

          demand(octets.getbyte(line.bytesize + 1) == 10)
          words(line.byteslice(BEGINNING.bytesize..))
          @bytesize = line.bytesize + 2
        end

        def words(line)
          return @client = :unknown if line == "UNKNOWN" || line.start_with?("UNKNOWN ")

          family, source, destination, *ports = line.split(/ /n, -1)
          demand(%w[TCP4 TCP6].include?(family) && ports.size == 2 && ports.all? { |word| port?(word) })
          demand([source, destination].all? { |word| word.include?(":") == (family == "TCP6") })
          @client = :named
          @address = Address.parse(source)
          demand(@address && Address.parse(destination))
        end

        def port?(word)
          word.match?(/\A(?:0|[1-9]\d{0,4})\z/n) && word.to_i <= 65_535
        end

        # 2.2. The octets of the fixed part are checked as they arrive.
        def version2(octets)
          return false if octets.bytesize < FIXED

          version, command = octets.getbyte(12).divmod(16)
          family, transport = octets.getbyte(13).divmod(16)
          size = octets.byteslice(14, 2).unpack1("n")
          demand(version == 2 && command < COMMANDS && family < ADDRESSES.size && transport < TRANSPORTS &&
                 size <= BLOCK && (command.zero? || size >= ADDRESSES[family]))
          return false if octets.bytesize < FIXED + size

          command.zero? ? @client = :itself : block(family, octets.byteslice(FIXED, size)) # LOCAL: the rest is ignored
          @bytesize = FIXED + size
        end

        # The block after the fixed part, which is long enough for the family's addresses.
        def block(family, octets)
          name = NAMES[family]
          @client = name ? :named : :unknown
          @address = Address.from_octets(octets.byteslice(0, name)) if name
          records(octets.byteslice(ADDRESSES[family]..))
        end

        # The records after the addresses: type, length, value (2.2).
        def records(octets)
          until octets.empty?
            demand(octets.bytesize >= 3)
            type, size = octets.unpack("Cn")
            demand(size <= octets.bytesize - 3)
            @secure = octets.getbyte(3).anybits?(TLS_CLIENT) if type == TLS_RECORD && size.positive?
            octets = octets.byteslice(size + 3..)
          end
        end
      end
    end
  end
end
