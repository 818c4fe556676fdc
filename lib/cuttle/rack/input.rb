# frozen_string_literal: true

module Cuttle
  module Rack
    # rack.input of a request without a body (Rack SPEC, The Input Stream). It is always at its end, so one object
    # serves all requests.
    module Input
      NONE = Object.new

      class << NONE
        # Behaves like an IO at its end: "" for a read to the end, nil for a read of some octets.
        def read(length = nil, buffer = nil)
          buffer&.replace("")
          length.nil? || length.zero? ? buffer || +"" : nil
        end

        def gets(*)
          nil
        end

        def each(*)
          block_given? ? self : to_enum
        end

        def rewind
          0
        end

        def size
          0
        end

        def eof?
          true
        end

        def close
          nil
        end

        def external_encoding
          Encoding::BINARY
        end
      end
      NONE.freeze
    end
  end
end
