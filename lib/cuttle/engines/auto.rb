# frozen_string_literal: true

module Cuttle
  module Engines
    # The value of --threads auto: LEAST threads, and further ones as they help, up to a limit. It is a Range, for code
    # that needs numbers.
    #
    #   cores   that all workers together may keep busy; where a process uses its share of them, no thread is added
    #   room?   whether there is memory for another thread now
    class Auto < Range
      # The threads that a process begins with, and keeps; fewer if the limit is lower.
      LEAST = 3

      # The limit if nothing sets a lower one.
      MOST = 64

      # The limit where the app shows no database pool. It may have one that Cuttle doesn't know, of the gem
      # connection_pool for example: these have 5 connections unless the app says otherwise.
      WITHOUT_POOL = 5

      # The limit of a process, unless the user sets one. pool: connections of the app's smallest database pool, nil if
      # none is known. room: threads that there is memory for.
      def self.limit(pool, room = MOST)
        [pool || WITHOUT_POOL, room].min
      end

      attr_reader :cores

      # The block is called before each new thread. Raises ArgumentError if +limit+ leaves no thread.
      def initialize(limit = MOST, cores: 1, &room)
        raise ArgumentError, "a limit of #{limit} threads" if limit < 1

        super([LEAST, limit].min, limit)
        @cores = cores
        @room = room
        freeze
      end

      def room? = @room.nil? || @room.call
    end
  end
end
