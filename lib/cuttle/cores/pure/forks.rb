# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # Children that the app forks. A source's connections and listeners belong to the process that made it: the child
      # closes its copies, so that it neither keeps a client waiting for the end nor a port bound.
      #
      # The child looks for them among all objects. A list would keep objects alive that nothing else refers to, and in
      # the ObjectSpace::WeakMap of Ruby 3.1 other objects take the places of collected ones.
      module Forks
        # An object with such copies: #abandon closes them. Another thread of the parent may just have been making it.
        module Inherited
        end

        # Runs in each forked child.
        module Hook
          def _fork
            super.tap { |pid| Forks.leave if pid.zero? }
          end
        end

        class << self
          # From now on a forked child abandons what it inherits.
          def watch
            return if @watched || !Process.respond_to?(:_fork) # JRuby can't fork

            @watched = true
            Process.singleton_class.prepend(Hook)
          end

          def leave
            ObjectSpace.each_object(Inherited, &:abandon)
          end
        end
      end
    end
  end
end
