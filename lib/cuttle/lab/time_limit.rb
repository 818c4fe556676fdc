# frozen_string_literal: true

module Cuttle
  module Lab
    # The time that a lab may take, while it runs. A block is not begun where it would end late, and broken off where it
    # takes far more than that.
    class TimeLimit
      FAR = 1.25 # times the budget

      # budget: seconds, or nil for no limit.
      def initialize(budget, clock: -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) })
        @budget = budget
        @clock = clock
        @began = clock.call
        @longest = 0
      end

      # The first one always has its chance.
      def no_room_for_block?
        !@budget.nil? && @longest.positive? && elapsed + (@longest / 2) > @budget
      end

      def over?
        !@budget.nil? && elapsed > @budget * FAR
      end

      # Times a block.
      def block
        began = elapsed
        yield
      ensure
        @longest = [@longest, elapsed - began].max
      end

      private

      def elapsed
        @clock.call - @began
      end
    end
  end
end
