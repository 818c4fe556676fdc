# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # A request's body: in memory up to 64 KB, in a temporary file beyond that.
      class Body
        MEMORY = 65_536

        # Octets so far.
        attr_reader :total

        def initialize(spool)
          @spool = spool
          @memory = String.new(encoding: Encoding::BINARY)
          @total = 0
        end

        # Raises Spool::Full or SystemCallError if the octets can't be kept.
        def append(octets)
          begin_spooling if !@file && @total + octets.bytesize > MEMORY
          @total += octets.bytesize
          @file ? keep(octets) : @memory << octets
        end

        # The whole body as rack.input. The caller closes it.
        def input
          @file&.rewind
          @file || StringIO.new(@memory)
        end

        # Releases what the body has, after the input was closed or instead of it. The thread that ends the connection
        # may call it as well as the app's.
        def close
          @file&.close
          @spool.discharge { (@charged || 0).tap { @charged = nil } }
        end

        private

        def begin_spooling
          @charged = 0
          @file = @spool.open
          keep(@memory)
          @memory = nil
        end

        def keep(octets)
          @spool.charge(octets.bytesize)
          @charged += octets.bytesize
          @file.write(octets)
          @spool.note_success
        end
      end
    end
  end
end
