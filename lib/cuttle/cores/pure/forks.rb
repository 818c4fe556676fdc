# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # Children that the app forks. A source's connections and listeners belong to the process that made it: the child
      # closes its copies, so that it neither keeps a client waiting for the end nor a port bound.
      module Forks
        # Runs in each forked child.
        module Hook
          def _fork
            super.tap { |pid| Forks.leave if pid.zero? }
          end
        end

        @sources = ObjectSpace::WeakMap.new

        class << self
          # Remembers a source. It is forgotten when it is collected.
          def note(source)
            return unless Process.respond_to?(:_fork) # JRuby can't fork

            @sources[source] = true
            return if @hooked

            Process.singleton_class.prepend(Hook)
            @hooked = true
          end

          def leave
            @sources.each_key(&:abandon)
          end
        end
      end
    end
  end
end
