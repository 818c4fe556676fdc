# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # A connection on the blocking side, which returns its exchanges one after the other. Its thread waits for it.
      class Connection
        def initialize(source, wire)
          @source = source
          @process = Process.pid
          @wire = wire
        end

        # Waits until the connection holds a complete request. Returns its Exchange, or nil when the connection has
        # ended. With +grace+, one that has idled for that many seconds ends if another waits to be accepted.
        def next_request(grace = nil)
          raise IOError, "the last request has no complete response" if @wire.state == :taken || forked?

          since = Cuttle.now
          advance(since, grace) until %i[ready closed].include?(@wire.state)
          return if @wire.closed?
          return drop if @wire.served == 1 && @wire.gone?

          @wire.guard { @wire.take(Cuttle.now) }.tap { |exchange| exchange.begin_effort(true) if @source.scoreboard }
        end

        # Ends the connection in any state. A response in progress is cut short.
        def close
          return if forked?

          @wire.exchange&.leave(false) if @wire.state == :taken
          @wire.guard { @source.close_wire(@wire) }
          nil
        end

        private

        def forked?
          Process.pid != @process
        end

        def drop
          @wire.guard { @source.drop(@wire) }
          nil
        end

        def advance(since, grace)
          step = @wire.guard { @wire.step(Cuttle.now) }
          step = await(since, grace) ? expire : last_look if step == :wait
          @wire.guard { @source.close_wire(@wire) } if step == :close
        end

        def expire
          now = Cuttle.now
          @wire.deadline && now >= @wire.deadline ? @wire.guard { @wire.expire(now) } : :wait
        end

        # Checks once more a connection that should end, so that a request sent in time is still answered.
        def last_look
          step = @wire.guard { @wire.step(Cuttle.now) }
          @wire.idle? ? :close : step
        end

        # Waits for the socket, the deadline, the stop or (once it has idled for longer than +grace+) a connection in
        # the backlog. Returns false if the connection should end.
        def await(since, grace)
          now = Cuttle.now
          kept = spared?(now)
          grace = nil if @source.stopping? # its deadline counts now, and nobody else is accepted
          grace = [grace, Wire::FIRST_GRACE].max if grace && @wire.served.zero?
          patient = grace && since + grace
          readers = @wire.reads? ? [@wire.socket] : []
          readers << @source.stop_io if @wire.idle? && !kept
          readers.concat(@source.listeners) if @wire.idle? && patient && now >= patient
          found = IO.select(readers, @wire.writes? ? [@wire.socket] : nil, nil, seconds(now, patient))
          found.nil? || continues?(found)
        rescue Errno::EINVAL # its descriptor is too large for this system's select
          @wire.guard { @source.refuse_excess(@wire) }
          true
        rescue IOError, SystemCallError # of its own socket, or of a listener that the stop has closed
          !@wire.idle? || @wire.socket.closed? || (@source.stopping? && spared?(Cuttle.now))
        end

        def seconds(now, patient)
          times = [@wire.deadline]
          times << patient if @wire.idle? && patient && now < patient
          [times.compact.min&.-(now), 0].compact.max if times.any?
        end

        # Whether its own socket is ready, or the stop spares it for now.
        def continues?((readable, writable))
          return true if readable.include?(@wire.socket) || writable.include?(@wire.socket)

          readable.include?(@source.stop_io) && spared?(Cuttle.now)
        end

        # Whether the connection survives a stop or a waiting connection for now. After the stop, a request may still be
        # on its way: a new connection waits a moment for it, a kept one the drain grace.
        def spared?(now)
          return true unless @wire.idle?
          return false unless @source.stopping?

          @wire.guard { @wire.spare(now) }
        end
      end
    end
  end
end
