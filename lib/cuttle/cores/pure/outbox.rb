# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # Octets that wait for the client to read: Strings and pieces of files, in order.
      class Outbox
        PIECE = 262_144  # octets of one write
        TURN = 2_097_152 # octets before others get their turn

        # A part of a file. It closes the file.
        FilePart = Struct.new(:file, :offset, :left) do
          # The next octets; nil if the file has become shorter.
          def octets
            file.pread([PIECE, left].min, offset)
          rescue EOFError
            nil
          end

          def advance(count)
            self.offset += count
            self.left -= count
          end

          def close
            file.close
          end
        end

        # A String whose first octets have left.
        Text = Struct.new(:string, :offset, :left) do
          def octets
            string.byteslice(offset, PIECE)
          end

          def advance(count)
            self.offset += count
            self.left -= count
          end

          def close; end
        end

        # queued: octets that wait; sent: octets that the system has taken since #restart
        attr_reader :queued, :sent

        def initialize(socket)
          @socket = socket
          @pieces = []
          @queued = @sent = 0
        end

        def restart
          @sent = 0
        end

        def empty?
          @pieces.empty?
        end

        # The String may change afterwards: dup shares its octets and copies them only then.
        def add(string)
          return if string.empty?

          @pieces << Text.new(string.dup, 0, string.bytesize)
          @queued += string.bytesize
        end

        def add_file(file, offset, length)
          return file.close if length.zero?

          @pieces << FilePart.new(file, offset, length)
          @queued += length
        end

        # Sends what the client takes now: :done, :wait (for the client, or for another turn) or :broken.
        def flush
          before = @sent
          until @pieces.empty?
            return :wait if @sent - before >= TURN

            octets = @pieces.first.octets or return :broken
            count = @socket.write_nonblock(octets, exception: false)
            return :wait if count.is_a?(Symbol)

            advance(@pieces.first, count)
          end
          :done
        rescue Errno::EINTR
          retry
        rescue SystemCallError, IOError
          :broken
        end

        def clear
          @pieces.each(&:close)
          @pieces.clear
          @queued = 0
        end

        private

        def advance(piece, count)
          piece.advance(count)
          @queued -= count
          @sent += count
          @pieces.shift.close if piece.left.zero?
        end
      end
    end
  end
end
