# frozen_string_literal: true

module Cuttle
  module Engines
    # What --threads auto means: one thread, and others as they help, up to a limit. Code that wants a number takes it
    # for the Range that it is.
    #
    #   cores   that all workers together may keep busy; where a process uses its share of them, no thread is added
    #   room?   whether there is memory for another thread now
    class Auto < Range
      # The limit where nothing says less.
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
