# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # Hands out connections, for engines that give each a thread or serve one after the other.
      class Acceptor < Source
        # Takes what Poller takes; shared, max_queue, queue_timeout and app_timeout have no effect.
        def initialize(listeners, **options)
          super(listeners, **options.except(:max_queue, :queue_timeout, :app_timeout))
          @waiting = [] # what the stop has accepted
        end

        def evented? = false

        # Waits for a connection. After stop it closes the listeners, returns the connections that waited, and then nil.
        def accept
          loop do
            close if stopping? && !@closed
            return welcome_waiting if @closed

            accepted = accept_any if room_for_another?
            return welcome(*accepted) if accepted

            await_connection
          end
        end

        # Whether a connection waits to be accepted.
        def waiting?
          !@waiting.empty? || !@closed && !IO.select(@listeners, nil, nil, 0).nil?
        rescue IOError, SystemCallError
          false
        end

        # What becomes readable, and stays so, when #stop is called.
        def stop_io
          @stop_reader
        end

        # The sockets that a connection waits in front of.
        def listeners
          @closed ? [] : @listeners
        end

        # Wire's and Exchange's side

        def changed(_wire); end

        def left(wire, complete)
          step = complete ? wire.finish(Cuttle.now) : :close
          close_wire(wire) if step == :close
        end

        def release(wire)
          @counters.add(:connections, -1)
          wire.release
        end

        # Sends what is queued until at most +most+ octets are left, or the client has gone.
        def wait_for_client(wire, most)
          until wire.out.queued <= most || wire.broken?
            ready = wire.socket.wait_writable(@limits.write_timeout)
            wire.guard { ready ? wire.send_queued : close_wire(wire) }
          end
        rescue IOError, SystemCallError
          wire.guard { close_wire(wire) }
        end

        # The client of a connection's first request went away while it was in the backlog.
        def drop(wire)
          @counters.add(:dropped)
          close_wire(wire)
        end

        def abandon
          super
          @closed = true
          @waiting&.each { |socket, _| socket.close }
        end

        private

        def welcome(socket, proxied)
          wire = Wire.new(self, socket, Mutex.new, Cuttle.now, proxied: proxied)
          Connection.new(self, wire)
        end

        # If there is no room for a connection it waits a fixed time, since the listeners would be ready without end.
        def await_connection
          room = !@short && room_for_another?
          IO.select([@stop_reader, *(listeners if room)], nil, nil, room ? nil : RECOVERY)
        rescue IOError, SystemCallError
          nil # the listeners were closed
        end

        def welcome_waiting
          accepted = @waiting.shift
          accepted && welcome(*accepted)
        end

        # Accepts all waiting connections at once, so that clients that keep connecting don't delay the end.
        def close
          while !@leave_backlog && (accepted = accept_any)
            @waiting << accepted
          end
          @closed = true
          close_listeners
        end
      end
    end
  end
end
