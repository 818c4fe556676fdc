# frozen_string_literal: true

module Cuttle
  module Engines
    # The value of --threads auto: one thread, and further ones as they help, up to a limit. It is a Range, for code
    # that needs numbers.
    #
    #   cores   that all workers together may keep busy; where a process uses its share of them, no thread is added
    #   room?   whether there is memory for another thread now
    class Auto < Range
      # The limit if nothing sets a lower one.
      MOST = 64

      attr_reader :cores

      # The block is called before each new thread. Raises ArgumentError if +limit+ leaves no thread.
      def initialize(limit = MOST, cores: 1, &room)
        raise ArgumentError, "a limit of #{limit} threads" if limit < 1

        super(1, limit)
        @cores = cores
        @room = room
        freeze
      end

      def room? = @room.nil? || @room.call
    end
  end
end
