# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # One request and its response, as engines, the service and the app see them. It belongs to the thread or fiber
      # that took it until its response is finished. Then it is over: it answers questions about the past, and
      # everything else raises.
      class Exchange
        include Responses

        TIMES = %i[accepted first_octet complete taken returned last_octet].freeze

        # continued: a 100 was sent
        attr_accessor :head, :body, :keep_alive, :continued, :thread, :fiber
        attr_reader :status

        def initialize(wire, now)
          @wire = wire
          @source = wire.source
          @process = Process.pid
          @times = { accepted: wire.accepted, first_octet: now }
          @backlog = wire.backlog
          @keep_alive = false
        end

        # Engines and the service

        # The request as a Rack env. Each call makes a new one, so call it once. Raises IOError if the exchange is over.
        def env
          wire = live
          @fiber = Fiber.current if wire.limits.app_timeout && Pure.scheduled?
          @input ||= @body && [@body.input, @body.total]
          @env = @source.env.build(self, wire, remote_address, time_in_queue(wire), @input)
        end

        def request_method
          live && head.http_method
        end

        # The path of the request's target as it was sent: percent-encoded, binary.
        def path
          live && head.path.dup
        end

        # The value of the fields of that name (lower case); nil without one. Several form one list (RFC 9110, 5.3).
        def header(name)
          live
          values = head.fields.filter_map { |field, value| value if field.casecmp?(name) }
          values.join(", ") unless values.empty?
        end

        def head?
          head.http_method == "HEAD"
        end

        # Whether a final status line was written, by the app or for it.
        def responded?
          (status && !@unsent) || finished? ? true : false
        end

        # Whether the response is complete or its connection gone.
        def finished?
          wire = @wire
          wire.nil? || wire.stuck?
        end

        # Whether a poller drives the connection instead of a thread of its own.
        def evented?
          @wire ? @source.evented? : false
        end

        # Whether this process is a child that the app forked after it got this exchange.
        def forked?
          Process.pid != @process
        end

        # Whether the app has taken the socket.
        def given_away?
          @given_away ? true : false
        end

        def keep_alive?
          @wire ? @keep_alive : false
        end

        # Makes the coming response the connection's last.
        def close_after
          live
          @keep_alive = false
          nil
        end

        # Makes bytes_sent, times and remote_address available after the exchange is over, which a log needs.
        def keep_record
          live
          remote_address
          @recorded = true
          nil
        end

        # Octets of the response that the system has taken; nil without a record once the exchange is over.
        def bytes_sent
          wire = @wire
          return wire.out.sent if wire

          @bytes_sent if @recorded
        end

        # When the request reached each of TIMES, in seconds on the monotonic clock; nil for one not reached, or without
        # a record once the exchange is over.
        def times
          @times.values_at(*TIMES) if @wire || @recorded
        end

        # When the request reached that stage.
        def mark(stage, now)
          @times[stage] = now
        end

        def time(stage)
          @times[stage]
        end

        # A thread begins to run the app. +alone+: it runs no other request meanwhile.
        def begin_effort(alone)
          @effort = Effort.new(alone)
        end

        # Where the request's time went so far, as far as that is known: seconds by phase (Cuttle::Ledger). The exchange
        # is the env's cuttle.ledger. Raises IOError if it is over.
        def to_h
          live
          @spent = @effort&.spent unless time(:returned)
          phases(Cuttle.now).transform_values { |nanoseconds| nanoseconds / 1e9 }
        end

        # The same in nanoseconds, of a request that a thread has taken.
        def phases(now)
          app = between(:taken, :returned, now)
          spent = @spent || {}
          { accept: @backlog, read: between(:first_octet, :complete, now), queue: between(:complete, :taken, now),
            app: app, **spent, wait: spent[:cpu] && [app - spent.values.sum, 0].max,
            write: (between(:returned, :last_octet, now) if time(:returned) && time(:last_octet)),
            total: @backlog.to_i + between(:first_octet, :last_octet, now) }.compact
        end

        def remote_address
          wire = @wire
          return @address = client_address(wire) if wire

          @address if @recorded
        end

        # Closes the request's input once the exchange is over.
        def dispose
          return if @wire

          @env = nil
          input, = @input
          @input = nil
          input.close if input && !input.closed?
          drop_body
        end

        def drop_body
          @body&.close
          @body = nil
        end

        # Whether the end of the connection is the end of the response.
        def unbounded?
          @framing ? @framing.unbounded? : false
        end

        # Ends the response, with +octets+ if there are more. The connection goes on to the next request, or closes if
        # the response is incomplete.
        def leave(complete, octets = nil)
          wire = @wire or return
          wire.guard do
            next unless @wire # another thread was quicker

            add_last(wire, octets) if octets
            complete, @status = true, 503 if wire.stuck?
            mark(:last_octet, Cuttle.now) if complete && wire.out.empty?
            @bytes_sent = wire.out.sent
            @wire = nil
            @source.left(wire, complete)
          end
          nil
        end

        # Lets the env use the exchange as rack.hijack, without arguments, and as rack.early_hints, with headers.
        def call(*headers)
          raise ArgumentError, "wrong number of arguments" if headers.size > 1

          headers.empty? ? hijack : early_hints(*headers)
        end

        # Separates the exchange from its connection, which goes on or ends without it.
        def part
          @bytes_sent = @wire&.out&.sent
          @wire = nil
        end

        private

        # Nanoseconds from one of TIMES to another, or to +now+ if that is still to come.
        def between(from, to, now)
          [(((@times[to] || now) - @times[from]) * 1e9).round, 0].max
        end

        def add_last(wire, octets)
          return if wire.stuck? || wire.closed?

          wire.out.add(octets)
          wire.send_queued
        end

        # The connection of a live exchange. Raises IOError if it is over or was answered because it was stuck. Another
        # thread may end the exchange at any time, so a caller that needs the connection twice keeps the returned value.
        def live
          wire = @wire or raise IOError, "the exchange is over"
          come_too_late if wire.stuck?
          wire
        end

        def come_too_late
          leave(false)
          raise IOError, "the request was answered with 503: the app did not answer in time (app_timeout)"
        end

        # The client's address: that of the peer, or the one that a trusted proxy names.
        def client_address(wire)
          told = Forwarded.client(head.fields, @source.trust) if wire.trusted?
          told ? Address.text(told) : wire.remote_address
        end

        # How long the request waited for a thread, in seconds: for a connection's first one also from accept to its
        # first octet.
        def time_in_queue(wire)
          waited = @times[:taken] - @times[:complete]
          waited += @times[:first_octet] - @times[:accepted] if wire.served == 1
          waited
        end
      end
    end
  end
end
