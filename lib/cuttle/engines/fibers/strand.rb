# frozen_string_literal: true

module Cuttle
  module Engines
    class Fibers
      # A fiber that the engine's loop runs: one of the pool, or of Fiber.schedule. With the fibers that the app resumes
      # in it (its own, those of enumerators) it is one sequence of execution, like a thread, of which at most one fiber
      # waits.
      #
      # Control enters and leaves it only by transfer. So if a fiber of the app raised an exception in it, that fiber
      # would never continue.
      class Strand < Fiber
        # The exception arrives at the loop's next turn, where the strand waits. Another one has no effect.
        def raise(*exception, **)
          scheduler = Fiber.current_scheduler
          return super if scheduler.nil? || equal?(Fiber.current) || !alive?

          scheduler.raise_in(self, exception)
        end
      end
    end
  end
end
