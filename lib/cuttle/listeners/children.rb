# frozen_string_literal: true

module Cuttle
  class Listeners
    # The children that an app forks keep no port. A core that serves sees to that itself; this is for the time before,
    # and for processes that never serve: the app forks while it loads, or in a hook. A child closes its copies of the
    # guarded listeners at once, in Process._fork, before the app's own code runs in it.
    #
    # The processes of a cluster must keep them, so they are forked in the block of #pass_on.
    module Children
      # The thread's variable that says so.
      PASSES_ON = :cuttle_passes_on

      # Runs in each forked child.
      module Hook
        def _fork
          super.tap { |pid| Children.born if pid.zero? }
        end
      end

      @guarded = []

      class << self
        # From now on children close their copies of +listeners+.
        def guard(listeners)
          Process.singleton_class.prepend(Hook) if Process.respond_to?(:_fork) # JRuby can't fork
          @guarded << listeners
        end

        def guarded?(listeners) = @guarded.include?(listeners)

        # These were closed.
        def forget(listeners)
          @guarded.delete(listeners)
        end

        # A child that this thread forks in the block keeps the listeners. That child's own children don't.
        def pass_on
          Thread.current[PASSES_ON] = true
          yield
        ensure
          Thread.current[PASSES_ON] = nil
        end

        # This process is a child that was forked just now.
        def born
          return Thread.current[PASSES_ON] = nil if Thread.current[PASSES_ON]

          @guarded.dup.each(&:close_copies)
        end
      end
    end
  end
end
