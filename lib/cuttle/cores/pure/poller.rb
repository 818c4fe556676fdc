# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # Hands out complete requests to any thread that asks. A thread of its own accepts, reads, sends and keeps the
      # deadlines; the engine's threads wait in #next. One lock guards it and all its connections.
      class Poller < Source
        include PollerThread

        # Takes what the native Poller takes: listeners, env:, parser:, and the limits. shared: has no effect here, and
        # of a scoreboard only its ledger counts.
        def initialize(listeners, **options)
          super
          @lock = Mutex.new
          @work = ConditionVariable.new
          @moved = ConditionVariable.new
          @news = ConditionVariable.new
          @wires = {}.compare_by_identity
          @ready = []
          @untold = []
          @watches = Watches.new
          @backend = Selectors.choose
          @free = @busy = 0
        end

        def evented? = true

        # The next Exchange with a complete request, or the token of a watched descriptor. Waits while there is none.
        # Returns false when +timeout+ (seconds) passes or #wake was called, nil when the poller was stopped and every
        # connection has ended. +room+: how many requests the engine can take, if its threads don't limit that.
        def next(timeout = nil, room = nil)
          return if forked?

          Thread.pass if @busy.positive? # requests that have begun go first
          found = nil
          Thread.handle_interrupt(Object => :on_blocking) { found = find(timeout && Cuttle.now + timeout, room) }
          delivered = true
          found
        ensure
          found.abort if found.is_a?(Exchange) && !delivered
        end

        # Makes a thread that waits in #next return false. Any thread and any trap handler may call it.
        def wake
          @called = true
          signal
          nil
        end

        # Makes #next return +token+ once when the descriptor is ready for +events+ (IO::READABLE, IO::WRITABLE).
        def watch(fileno, events, token)
          guard do
            @watches.add(fileno, events, token)
            begin_io unless @thread
            signal
          end
          token
        end

        # Ends a watch. Returns the events that were reported.
        def unwatch(fileno)
          guard { @watches.remove(fileno) }
        end

        # Whether the descriptor is watched. It is no longer once it was closed without an unwatch: then #next returns
        # the token, and what is watched from then on is another file.
        def watches?(fileno)
          guard { @watches.key?(fileno) }
        end

        # Whether no thread is free to take the next request.
        def starved?
          @free.zero?
        end

        def stats
          guard do
            counts = super()
            counts.merge(requests: counts[:requests] - @ready.size, busy: @busy, ready: @ready.size, stood_by: 0,
                         relayed: 0)
          end
        end

        # The names of the back ends that there are here, the best one first.
        def self.backends
          Selectors::TABLE.keys
        end

        # The name of the back end that waits.
        attr_reader :backend

        # Waits until a request was answered because it was stuck. Returns [thread, fiber, seconds, "GET /path"].
        def stuck
          @lock.synchronize do
            @news.wait(@lock) while @untold.empty?
            exchange = @untold.shift.exchange
            request = "#{exchange.head.http_method} #{exchange.head.path}".byteslice(0, 255)
            [exchange.thread, exchange.fiber, Cuttle.now - exchange.time(:taken), request]
          end
        end

        # After stop: whether only requests are left that are stuck in the app and have been answered.
        def stranded?
          guard do
            next false unless @stopping && @shut

            refuse_all if (@room || @free).zero? && @wires.each_key.count(&:stuck?) == @busy
            !@wires.empty? && @wires.each_key.all?(&:stuck?)
          end
        end

        # Wire's and Exchange's side

        # A connection's socket must be waited for in another way.
        def changed(_wire)
          signal unless io_thread?
        end

        # The app has left an exchange. Under the lock.
        def left(wire, complete)
          @busy -= 1
          @untold.delete(wire)
          route(wire, complete ? wire.finish(Cuttle.now) : :close)
        end

        # Gives up a connection. Under the lock.
        def release(wire)
          @busy -= 1
          @wires.delete(wire)
          @counters.add(:connections, -1)
          signal
          wire.release
        end

        # Waits until at most +most+ octets are queued, or the client has gone.
        def wait_for_client(wire, most)
          @lock.synchronize { @moved.wait(@lock) until wire.out.queued <= most || wire.broken? }
        end

        private

        def guard(&block)
          Pure.guard(@lock, &block)
        end

        def io_thread?
          Thread.current.equal?(@thread)
        end

        # The engine's side

        def find(until_then, room)
          @lock.synchronize do
            begin_io unless @thread || over?
            @room = room
            @asked = true
            shed(Cuttle.now) if room
            loop do
              now = Cuttle.now
              found = look(now, room)
              return found unless found == :nothing
              return false if until_then && now >= until_then

              wait_for_work(until_then && until_then - now)
            end
          end
        end

        # Requests and watched descriptors take turns.
        def look(now, room)
          exchange = take(now) unless room&.zero? || (@watch_next && @watches.fired?)
          @watch_next = !exchange.nil?
          return exchange if exchange
          return @watches.shift if @watches.fired?
          return if over?
          return :nothing unless @called

          @called = false
        end

        def wait_for_work(seconds)
          @free += 1
          signal if @away
          @work.wait(@lock, seconds)
        ensure
          @free -= 1
        end

        # The request that has been complete longest. Drops those whose clients have gone while they waited.
        def take(now)
          while (wire = @ready.shift)
            return hand_over(wire, now) unless wire.gone?

            @counters.add(:dropped)
            route(wire, :close)
          end
        end

        def hand_over(wire, now)
          @busy += 1
          @room -= 1 if @room&.positive?
          exchange = wire.take(now)
          exchange.thread = Thread.current if @limits.app_timeout
          exchange.begin_effort(@room.nil?) if @scoreboard
          signal if wire.deadline
          exchange
        end

        def over?
          @shut && @wires.empty?
        end
      end
    end
  end
end
