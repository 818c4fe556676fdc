# frozen_string_literal: true

module Cuttle
  module Engines
    class Fibers
      # The descriptors that fibers wait for, and which fibers wait for each. Runs on the engine's thread.
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
          wait = @waits[fileno] ||= Wait.new(fileno, [])
          wait.fibers += [entry = [Fiber.current, events]]
          watch(wait) ? @strands.pause(timeout) : events
        ensure
          forget(wait, entry) if entry
        end

        # The poller reported the descriptor of +wait+. Continues the fibers whose events came, and continues to watch
        # for the others. If the poller saw no event, the app has closed the descriptor without Ruby's knowledge, and
        # its number may belong to another file. Then all its fibers continue, and find out by themselves.
        def ready(wait)
          seen = @poller.unwatch(wait.fileno)
          done, wait.fibers = wait.fibers.partition { |_, events| seen.zero? || events.anybits?(seen) }
          wait.fibers.empty? ? @waits.delete(wait.fileno) : done.concat(renew(wait))
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

        # Returns false for descriptors that epoll rejects. These are regular files, which are always ready.
        def watch(wait)
          @poller.watch(wait.fileno, wait.fibers.inject(0) { |events, (_, wanted)| events | wanted }, wait)
          true
        rescue Errno::EPERM
          false
        end

        # Continues to watch for the fibers that still wait. Returns those for which that is impossible.
        def renew(wait)
          return [] if !wait.fibers.empty? && watch(wait)

          drop(wait)
        rescue SystemCallError
          drop(wait)
        end

        def drop(wait)
          @waits.delete(wait.fileno)
          left, wait.fibers = wait.fibers, []
          left
        end

        # The fiber no longer waits, for whatever reason.
        def forget(wait, entry)
          return unless wait.fibers.reject! { |other| other.equal?(entry) }

          @poller.unwatch(wait.fileno) if wait.fibers.empty?
          renew(wait).each { |fiber, events| @strands.go_on(fiber, events) }
        end
      end
    end
  end
end
