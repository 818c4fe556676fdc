# frozen_string_literal: true

module Cuttle
  class Cluster
    # Messages from moulds and workers to the supervisor: lines in a pipe that all of them write to. A line is at most
    # PIPE_BUF long, so it arrives whole. A sign of life is lost if the pipe is full; other lines wait.
    class Wire
      # Octets to read at once. (A new String for each read would be most of a supervisor's garbage, and it collects
      # garbage seldom.)
      MOST = 65_536

      # +event+ is a Symbol; +facts+ a Hash of Symbols to Integers.
      Message = Struct.new(:event, :facts)

      def initialize
        @reader, @writer = IO.pipe
        @writer.sync = true
        @octets = String.new(capacity: MOST)
        @rest = +""
      end

      # Readable when there is something to #read.
      attr_reader :reader

      # Sends a message to the supervisor. Any process that was forked since may call it.
      def tell(event, **facts)
        line = [event, *facts.map { |name, value| "#{name}=#{value}" }].join(" ")
        event == :beat ? @writer.write_nonblock("#{line}\n", exception: false) : @writer.write("#{line}\n")
      rescue Errno::EPIPE
        nil # a supervisor that has restarted, or was killed
      end

      # The Messages that have arrived.
      def read
        @rest << @octets while @reader.read_nonblock(MOST, @octets, exception: false).is_a?(String)
        *lines, @rest = @rest.split("\n", -1)
        @rest = @rest ? +@rest : +""
        lines.map { |line| message(line) }
      end

      # For a process that only sends: closes its copy of the reading end.
      def close_reader
        @reader.close
      end

      def close
        [@reader, @writer].each(&:close)
      end

      private

      def message(line)
        event, *facts = line.split
        facts = facts.map { |fact| fact.split("=") }
        Message.new(event.to_sym, facts.to_h { |name, value| [name.to_sym, value.to_i] })
      end
    end
  end
end
