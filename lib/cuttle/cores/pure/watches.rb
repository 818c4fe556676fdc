# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # Descriptors that the engine's fibers wait for (Poller#watch). The poller's lock guards it.
      class Watches
        # seen: the events that came; armed: they have not been reported yet
        Watch = Struct.new(:io, :events, :token, :seen, :armed)

        def initialize
          @watches = {}
          @fired = []
        end

        # Watches a descriptor, instead of what was watched of it. Raises SystemCallError: EPERM for a regular file,
        # which is always ready.
        def add(fileno, events, token)
          io = open(fileno)
          raise Errno::EPERM if io.stat.file?

          remove(fileno)
          @watches[fileno] = Watch.new(io, events, token, 0, true)
        end

        # Ends a watch. Returns the events that came.
        def remove(fileno)
          watch = @watches.delete(fileno) or return 0
          @fired.delete(watch)
          watch.seen
        end

        def key?(fileno)
          @watches.key?(fileno)
        end

        # The token of a watch that was reported; nil if there is none.
        def shift
          @fired.shift&.token
        end

        def fired?
          !@fired.empty?
        end

        # Whether nothing is watched, and nothing to be reported.
        def empty?
          @watches.empty? && @fired.empty?
        end

        # The IOs to wait for.
        def interests(event)
          @watches.each_value.select { |watch| watch.armed && watch.events.anybits?(event) }.map(&:io)
        end

        # Notes IOs that are ready for +event+.
        def note(ios, event)
          @watches.each_value { |watch| fire(watch, event) if watch.armed && ios.any? { |io| io.equal?(watch.io) } }
        end

        # Reports a watch, if there is one, whose descriptor was closed without Ruby's knowledge. The number may belong
        # to another file, which may be watched too.
        def orphan(fileno)
          watch = @watches.delete(fileno)
          fire(watch, 0) if watch&.armed
        end

        # Reports the watches whose descriptors are closed. Returns whether there were any.
        def orphan_closed
          dead = @watches.select { |_, watch| watch.armed && dead?(watch.io) }
          dead.each_key { |fileno| orphan(fileno) }.any?
        end

        private

        # An IO around the descriptor, which it does not own. Only its mode has to fit.
        def open(fileno)
          %w[r+ r w].each do |mode|
            return IO.for_fd(fileno, mode, autoclose: false)
          rescue Errno::EINVAL
            next
          end
          raise Errno::EBADF
        end

        def fire(watch, event)
          watch.seen |= event
          watch.armed = false
          @fired << watch
        end

        def dead?(io)
          io.stat
          false
        rescue SystemCallError, IOError
          true
        end
      end
    end
  end
end
