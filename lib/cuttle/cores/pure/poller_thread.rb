# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # What the Poller's own thread does: it waits for sockets and deadlines, accepts, and steps connections. All but
      # the waiting runs under the lock.
      module PollerThread
        CROWD = 128 # connections accepted at once if requests may be refused

        private

        def begin_io
          @selector = Selectors::TABLE.fetch(@backend).new
          @thread = Thread.new { move }
          @thread.name = "cuttle io"
        end

        def move
          turn until guard { over? && @watches.empty? && @free.zero? && end_io }
        end

        # The engine may still watch a descriptor (Poller#watch), for which another thread begins.
        def end_io
          @thread = nil
          true
        end

        def turn
          readers, writers, seconds = guard { interests }
          found = @selector.wait(readers, writers, seconds)
          guard { act(*found) }
        rescue Errno::EINVAL, ArgumentError
          guard { give_up_excess }
        rescue IOError, SystemCallError
          guard { @watches.orphan_closed && @work.broadcast }
        end

        # select does not accept some descriptors. Their connections end, so that neither the thread nor the other
        # connections do.
        def give_up_excess
          excess = @wires.select { |_, socket| Selectors.exceeds?(socket) }.keys
          excess.each { |wire| wire.state == :taken ? wire.give_up : finish(wire) }
          excess.empty? ? @watches.orphan_closed : complain_of_excess
        end

        # What to wait for, and for how long.
        def interests
          @away = !accepts?
          readers = [@stop_reader, *@watches.interests(IO::READABLE)]
          readers.concat(@listeners) unless @away
          writers = @watches.interests(IO::WRITABLE)
          nearest = @recovers
          @wires.each do |wire, socket|
            readers << socket if wire.reads?
            writers << socket if wire.writes?
            nearest = wire.deadline if wire.deadline && (nearest.nil? || wire.deadline < nearest)
          end
          nearest = Cuttle.now + Source::RECOVERY if over?
          [readers, writers, nearest && [nearest - Cuttle.now, 0].max]
        end

        # Whether a connection that is accepted now finds a free thread, or may be refused.
        def accepts?
          return false if @stopping || @shut || !room_for_another?
          return false if @recovers && Cuttle.now < @recovers

          @recovers = nil
          appetite.positive?
        end

        # How many connections to accept.
        def appetite
          return CROWD if @limits.sheds?
          return @room if @room

          [@free - @ready.size, @asked ? 1 : 0].max
        end

        def act(readable = [], writable = [], _failed = nil)
          now = Cuttle.now
          hear if readable.include?(@stop_reader)
          shut(now) if @stopping && !@shut
          @watches.note(readable, IO::READABLE)
          @watches.note(writable, IO::WRITABLE)
          step_ready(readable, writable, now)
          accept(now) unless @away
          expire(now)
          shed(now)
          @moved.broadcast
          @work.broadcast if @called || @watches.fired? || over?
        end

        def hear
          @stop_reader.read_nonblock(4_096, exception: false)
        end

        def step_ready(readable, writable, now)
          sockets = (readable + writable).to_h { |io| [io, true] }.compare_by_identity
          ready = @wires.select { |_, socket| sockets.key?(socket) }.keys
          ready.each { |wire| advance(wire) { wire.step(now) } unless wire.state == :ready || wire.closed? }
        end

        def accept(now)
          appetite.times do
            accepted = accept_any if room_for_another? && !@stopping
            break unless accepted

            @asked = false
            welcome(*accepted, now)
          end
          @recovers = now + Source::RECOVERY if @short
        end

        def welcome(socket, proxied, now)
          @watches.orphan(socket.fileno)
          wire = Wire.new(self, socket, @lock, now, proxied: proxied)
          @wires[wire] = socket
          advance(wire) { wire.step(now) }
        end

        # Routes a connection by what the block returns. A defect here costs one connection, not the thread.
        def advance(wire)
          route(wire, yield)
        rescue StandardError => error
          $stderr.write(error.full_message(highlight: false))
          finish(wire)
        end

        # Acts on the result of a connection's step.
        def route(wire, step)
          case step
          when :complete
            @ready << wire
            @work.signal
          when :close then finish(wire)
          when :stuck then tell(wire)
          else changed(wire)
          end
        end

        def finish(wire)
          close_wire(wire)
          [@wires, @ready, @untold].each { |list| list.delete(wire) }
          @moved.broadcast
          signal unless io_thread?
          @work.broadcast if over?
        end

        def tell(wire)
          @counters.add(:stuck)
          @untold << wire
          @news.broadcast
        end

        def expire(now)
          late = @wires.each_key.select { |wire| wire.deadline && wire.deadline <= now }
          late.each { |wire| wire.state == :ready ? refuse(wire, now) : advance(wire) { wire.expire(now) } }
        end

        # Refuses the newest requests beyond the queue.
        def shed(now)
          return unless @limits.max_queue

          most = @limits.max_queue + (@room || @free)
          refuse(@ready.last, now) while @ready.size > most
        end

        def refuse_all
          refuse(@ready.first, Cuttle.now) until @ready.empty?
        end

        # A request whose client has gone is dropped.
        def refuse(wire, now)
          @ready.delete(wire)
          if wire.gone?
            @counters.add(:dropped)
            return route(wire, :close)
          end
          @counters.add(:refused)
          route(wire, wire.decline(now))
        end

        # The listeners first, with what waits there, then idle connections.
        def shut(now)
          while !@leave_backlog && room_for_another? && (accepted = accept_any)
            welcome(*accepted, now)
          end
          close_listeners
          @shut = true
          @wires.each_key.select(&:idle?).each { |wire| route(wire, wire.drain_idle(now)) }
        end
      end
    end
  end
end
