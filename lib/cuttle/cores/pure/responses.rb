# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # The sending half of an Exchange. An app's mistake is found before the first octet leaves, or ends the
      # connection: a message is never completed differently from what its head announced.
      module Responses
        include Composing

        JOINED = 262_144 # octets of a response that are copied into one String
        LAST_CHUNK = "0\r\n\r\n"
        CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n"
        HIGH_WATER = 262_144 # octets queued before the thread of a blocking connection waits

        # Sends the whole response, +parts+ being an Array of Strings. Raises InvalidResponse before anything was sent.
        def respond(status, headers, parts)
          status = ResponseHead.status(status)
          pairs, hijack = ResponseHead.gather(headers)
          raise InvalidResponse, "rack.hijack among the headers, and a body" if hijack

          unanswered
          send_whole(status, pairs, parts)
        end

        # Responds and disposes, if there is nothing else to do. Returns false, with nothing sent, if the response needs
        # more: a body other than a plain Array, a status of 101, rack.hijack among the headers, callbacks, or an
        # exchange that is over.
        def answer(status, headers, body)
          live if @wire && finished?
          return false unless body.instance_of?(Array) && !body.respond_to?(:close) && status != 101
          return false if !@wire || forked?

          status = ResponseHead.status(status)
          pairs, hijack = ResponseHead.gather(headers)
          return false if hijack || callbacks?

          unanswered
          send_whole(status, pairs, body)
          dispose
          true
        end

        # Begins a response whose body comes by #write and ends by #finish or #abort. The head leaves with the first
        # piece.
        def start(status, headers)
          status = ResponseHead.status(status)
          pairs, = ResponseHead.gather(headers)
          unanswered
          @unsent = begin_response(status, pairs, nil).to_s
          nil
        end

        # Sends a piece of the body at once; waits while the client is too far behind (write_ahead). Octets beyond the
        # announced length are not sent, and end the connection. Raises Disconnected when the client has gone.
        def write(string)
          wire = @wire
          raise Disconnected, "no response is under way" unless wire && @status
          raise InvalidResponse, "a part of the body is no String: #{string.class}" unless string.is_a?(String)

          octets = @framing.bodiless? ? "" : cut(string)
          send_piece(octets)
          wait_for_client(wire)
          raise Disconnected, "the client has gone" if @wire.nil? || wire.broken?

          octets.bytesize
        end

        # Completes the response. One that is shorter than it announced ends the connection instead.
        def finish
          return unless @wire && @status

          send_piece("")
          @keep_alive = false if @framing.left&.positive? || (@framing.encoded? && !@framing.whole?)
          leave(true, (LAST_CHUNK if @framing.chunked?))
        end

        # Ends the connection without completing the response, so that the client sees that it is cut short.
        def abort
          leave(false)
        end

        # Sends +length+ octets of +file+ from +offset+, and closes it. A file that has become shorter ends the
        # connection.
        def send_file(status, headers, file, offset, length)
          status = ResponseHead.status(status)
          pairs, = ResponseHead.gather(headers)
          unanswered
          head = begin_response(status, pairs, length)
          invalid("transfer-encoding: chunked, but the body is not in chunks") if @framing.encoded?
          count = @framing.bodiless? ? 0 : [length, @framing.left || length].min
          settle_length(length)
          transmit(head.to_s, file: [file, offset, count])
          leave(true)
        end

        # Sends a 103 (RFC 8297); nothing on HTTP/1.0, or when the final response has begun.
        def early_hints(headers)
          pairs, = ResponseHead.gather(headers)
          live
          return if @status || @head.minor.zero?

          hints = ResponseHead.new(103, pairs) << "\r\n"
          transmit(hints.to_s)
          @keep_alive = false if hints.close? # the app has announced it (RFC 9112, 9.6)
          nil
        end

        # Sends a head as the app gives it, and gives the socket to the caller (Rack SPEC, partial hijack). The status
        # may be 101, if the client has asked for a protocol that Upgrade names.
        def upgrade(status, headers)
          status = ResponseHead.status(status) unless status == 101
          pairs, = ResponseHead.gather(headers)
          unanswered
          head = ResponseHead.new(status, pairs)
          check_upgrade(head, status)
          @keep_alive = status == 101 # no "connection: close" beside the app's "upgrade"
          keep_framing(head) unless [101, 204].include?(status) # RFC 9110, 8.6; RFC 9112, 6.1
          conclude(head)
          @status = status
          # RFC 9110, 7.8: a 101 comes after a 100, if the client expects one.
          transmit(CONTINUE) if status == 101 && @head.expect_continue && !continued
          transmit(head.to_s)
          hijack
        end

        # Gives the socket to the caller, which owns it from now on (Rack SPEC, Hijacking).
        def hijack
          wire = live
          raise IOError, "the exchange is the parent process's" if forked?

          begin_in_time(wire)
          flush_fully(wire)
          env = @env
          websocket = becomes_websocket?
          socket = wire.guard { release(own(wire)) }
          @given_away = true
          @source.hijacked&.add(socket, websocket)
          env["rack.hijack_io"] = socket if env && !env.frozen?
          @env = @input = nil
          socket
        end

        private

        # Makes sure that the response has not begun. Nobody answers for the app after this.
        def unanswered
          wire = live
          raise IOError, "the request has its response already" if @status && !@unsent

          begin_in_time(wire)
          @unsent = @status = nil
        end

        def begin_in_time(wire)
          wire.guard { own(wire).begin_response } || come_too_late
        end

        # The connection, if it is still this exchange's. Under its lock: another thread may have ended the exchange,
        # and the connection may be at its next one.
        def own(wire)
          @wire.equal?(wire) ? wire : raise(IOError, "the exchange is over")
        end

        # The app may have put anything there, and may have given the env a default_proc.
        def callbacks?
          lists = @env ? %w[rack.response_finished rack.after_reply].map { |name| @env.fetch(name, nil) } : []
          lists.any? { |list| list.is_a?(Array) ? !list.empty? : list }
        end

        def send_whole(status, pairs, parts)
          parts.each do |part|
            raise InvalidResponse, "a part of the body is no String: #{part.class}" unless part.is_a?(String)
          end
          length = parts.sum(&:bytesize)
          head = begin_response(status, pairs, length)
          check_encoded(parts) if @framing.encoded?
          parts = @framing.bodiless? ? [] : cut_all(parts)
          settle_length(length)
          transmit(head.to_s, *parts)
          leave(true)
        end

        # Sends octets of the body as the framing wants them.
        def send_piece(octets)
          parts = @framing.chunked? ? chunk(octets) : [octets]
          transmit(*(octets.empty? ? [] : parts)) if @unsent || !octets.empty?
        end

        # RFC 9112, 7.1.
        def chunk(octets)
          ["#{octets.bytesize.to_s(16)}\r\n", octets, "\r\n"]
        end

        # Sends octets now as far as the client takes them, behind the head if that has not left yet, and queues the
        # rest. Nothing if the exchange has ended.
        def transmit(*parts, file: nil)
          wire = @wire or return file&.first&.close
          wire.guard do
            next file&.first&.close if !@wire.equal?(wire) || wire.stuck? || wire.closed?

            join([*@unsent, *parts]).each { |part| wire.out.add(part) }
            @unsent = nil
            wire.out.add_file(*file) if file
            wire.send_queued
          end
        end

        def join(parts)
          parts.sum(&:bytesize) <= JOINED ? [parts.inject("".b) { |all, part| all << part.b }] : parts
        end

        # Waits until most of what is queued is sent, or the client has gone. Other threads may end the exchange
        # meanwhile.
        def wait_for_client(wire)
          most = evented? ? wire.limits.write_ahead : HIGH_WATER
          @source.wait_for_client(wire, most - most / 4) if most && wire.out.queued > most
        end

        # Sends what is queued. Raises IOError if the client does not take it.
        def flush_fully(wire)
          @source.wait_for_client(wire, 0) unless wire.out.empty?
          raise IOError, "the connection is broken" if wire.broken? || !wire.out.empty?
        end

        # Whether the socket becomes a WebSocket, as far as the server sees it: with a full hijack the app answers
        # itself.
        def becomes_websocket?
          (@status.nil? || @status == 101) && Hijacked.asks_for_websocket?(head)
        end

        # Gives up the connection. Returns its socket, with unused input pushed back.
        def release(wire)
          part
          socket, rest = @source.release(wire)
          socket.sync = true
          socket.ungetbyte(rest) unless rest.empty?
          socket
        end
      end
    end
  end
end
