# frozen_string_literal: true

module Cuttle
  module Engines
    class Fibers
      # The descriptors that fibers wait for, and which fibers wait for each. Runs on the engine's thread.
      #
      # An app may close a descriptor without Ruby's knowledge while fibers wait for it. The poller reports their Wait
      # once it notices that. Before the report arrives, other fibers may wait for another file with the same number.
      # They get a Wait of their own, and the first one is *orphaned*.
      class Watches
        # Fibers that wait for one descriptor: [fiber, events] each.
        Wait = Struct.new(:fileno, :fibers)

        def initialize(poller, strands)
          @poller = poller
          @strands = strands
          @waits = {}
        end

        # Pauses the current fiber until one of +events+ comes, or for +timeout+ seconds. Returns the events that came,
        # or what continued the fiber.
        def wait(fileno, events, timeout)
          wait = wait_for(fileno)
          wait.fibers << (entry = [Fiber.current, events])
          watch(wait) ? @strands.pause(timeout) : events
        ensure
          forget(wait, entry) if entry
        end

        # The poller reported the descriptor of +wait+. Continues the fibers whose events came, and continues to watch
        # for the others. If the poller saw no event, the descriptor was closed: all its fibers continue, and find out
        # by themselves.
        def ready(wait)
          seen = orphaned?(wait) ? 0 : @poller.unwatch(wait.fileno)
          done = finish(wait, seen)
          done.each do |fiber, events|
            @strands.go(fiber, seen.zero? ? events : events & seen) if @strands.paused?(fiber)
          end
        end

        # Stops watching all descriptors. A forked child leaves the parent's poller alone.
        def close
          @waits.each_key { |fileno| @poller.unwatch(fileno) } unless @poller.forked?
          @waits.clear
        end

        private

        # The Wait of a descriptor: the one that there is, unless it is orphaned.
        def wait_for(fileno)
          wait = @waits[fileno]
          return wait if wait && @poller.watches?(fileno)

          @waits[fileno] = Wait.new(fileno, [])
        end

        # Whether another Wait has the number of this one.
        def orphaned?(wait)
          !@waits[wait.fileno].equal?(wait)
        end

        # Returns false for descriptors that epoll rejects. These are regular files, which are always ready.
        def watch(wait)
          @poller.watch(wait.fileno, wait.fibers.inject(0) { |events, (_, wanted)| events | wanted }, wait)
          true
        rescue Errno::EPERM
          false
        end

        # Removes the fibers whose events came, all of them if +seen+ is 0, and returns them. That is mostly every fiber
        # of the wait, since there is one.
        def finish(wait, seen)
          return drop(wait) if seen.zero? || wait.fibers.all? { |_, events| events.anybits?(seen) }

          done, wait.fibers = wait.fibers.partition { |_, events| events.anybits?(seen) }
          done.concat(renew(wait))
        end

        # Continues to watch for the fibers that still wait. Returns those for which that is impossible.
        def renew(wait)
          return [] if !wait.fibers.empty? && watch(wait)

          drop(wait)
        rescue SystemCallError
          drop(wait)
        end

        def drop(wait)
          @waits.delete(wait.fileno) unless orphaned?(wait)
          left, wait.fibers = wait.fibers, []
          left
        end

        # The fiber no longer waits, for whatever reason.
        def forget(wait, entry)
          return if !wait.fibers.reject! { |other| other.equal?(entry) } || orphaned?(wait)

          @poller.unwatch(wait.fileno) if wait.fibers.empty?
          renew(wait).each { |fiber, events| @strands.go_on(fiber, events) }
        end
      end
    end
  end
end
