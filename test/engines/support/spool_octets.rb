# frozen_string_literal: true

# The octets of large bodies. Those of each size differ from all others, and repeat after a million. To copy them takes
# less than to make as many random ones.
module SpoolOctets
  MANY = Random.new(1).bytes(1_000_003)

  class << self
    def of(size) = piece(size, 0, size)

    # +count+ of them, from the octet +start+ on.
    def piece(size, start, count)
      octets = String.new(capacity: count, encoding: Encoding::BINARY)
      while (left = count - octets.bytesize).positive?
        octets << MANY.byteslice((size * 7_919 + start + octets.bytesize) % MANY.bytesize, left)
      end
      octets
    end

    # Whether +body+ has them.
    def of?(size, body)
      return false unless body.bytesize == size

      0.step(size - 1, MANY.bytesize).all? do |start|
        part = body.byteslice(start, MANY.bytesize)
        part == piece(size, start, part.bytesize)
      end
    end
  end
end
