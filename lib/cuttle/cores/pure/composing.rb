# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # How an Exchange makes a response: its head, how the message says where it ends, and which octets of the body
      # belong to it. Nothing here sends.
      module Composing
        private

        # The response's head, complete. +length+: the body's octets, nil where they are not known yet.
        def begin_response(status, pairs, length)
          head = ResponseHead.new(status, pairs)
          invalid("a transfer-encoding for an HTTP/1.0 client") if head.chunked? && @head.minor.zero?
          note_return
          frame(head, status, length)
          add_timing(head) if @source.limits.server_timing
          conclude(head)
          @status = status
          head
        end

        # The app has returned.
        def note_return
          mark(:returned, Cuttle.now)
          @spent = @effort&.spent
        end

        # Adds where the request's time went (W3C Server Timing, 3). The field is a list, so the app's own entries stay.
        def add_timing(head)
          times = phases(time(:returned)).except(:total).map { |phase, time| format("%s;dur=%.3f", phase, time / 1e6) }
          head << "server-timing: #{times.join(", ")}\r\n"
        end

        # How the message says where it ends (RFC 9112, 6.3).
        def frame(head, status, length)
          @framing = Framing.new(bodiless: head? || [204, 205, 304].include?(status))
          @keep_alive = false if head.close? || @source.stopping?
          return if status == 204 # has no field that speaks of a body (RFC 9110, 8.6; RFC 9112, 6.1)
          return head.add_length(0) if status == 205 # there must be none (RFC 9110, 15.3.6)
          return frame_chunks(head) if head.chunked?

          length = head.content_length || (length unless @framing.bodiless?)
          if length
            @framing.left = length unless @framing.bodiless?
            head.add_length(length)
          elsif @framing.bodiless? then nil
          elsif @head.minor.zero? then @keep_alive = false # the end of the connection is the end of the body
          else
            @framing.chunk!
            head << "transfer-encoding: chunked\r\n"
          end
        end

        def frame_chunks(head)
          @framing.encoded! unless @framing.bodiless?
          head << "transfer-encoding: chunked\r\n"
        end

        def conclude(head)
          if !@keep_alive then head << "connection: close\r\n"
          elsif @head.minor.zero? then head << "connection: keep-alive\r\n"
          end
          # RFC 9110, 7.8: a sender of Upgrade sends this option.
          head << "connection: upgrade\r\n" if head.upgrade && !head.upgrade_option?
          head << ResponseHead.date_line unless head.date?
          head << "\r\n"
        end

        # Checks the app's head of a response after which it has the socket. RFC 9112, 6.1: HTTP/1.0 has no
        # Transfer-Encoding. RFC 9110, 7.8: nor has it upgrades, and a client gets a protocol that it has asked for.
        def check_upgrade(head, status)
          invalid("a transfer-encoding for an HTTP/1.0 client") if head.chunked? && @head.minor.zero?
          return unless status == 101
          return if @head.minor == 1 && head.upgrade && Hijacked.asks_for?(@head.fields, head.upgrade)

          invalid("a 101 to a protocol that the client has not asked for")
        end

        # The framing that the app has declared for its message.
        def keep_framing(head)
          length, chunked = head.content_length, head.chunked?
          head << "transfer-encoding: chunked\r\n" if chunked
          head.add_length(length) if length
        end

        # No octet of the response has left, and none will.
        def invalid(why)
          @status = nil
          raise InvalidResponse, why
        end

        def check_encoded(parts)
          return if parts.all? { |part| @framing.check(part) } && @framing.whole?

          invalid("transfer-encoding: chunked, but the body is not in chunks")
        end

        # The parts without what exceeds the announced length.
        def cut_all(parts)
          left = @framing.left or return parts
          parts.filter_map do |part|
            piece = part.byteslice(0, [left, part.bytesize].min)
            left -= piece.bytesize
            piece unless piece.empty?
          end
        end

        # A body whose length is not the announced one can't be followed by another message.
        def settle_length(length)
          @keep_alive = false if @framing.left && length != @framing.left
          @framing.left = 0 if @framing.left
        end

        # A piece without what exceeds the announced length.
        def cut(string)
          if @framing.encoded? && !@framing.check(string)
            raise InvalidResponse, "transfer-encoding: chunked, but the body is not in chunks"
          end
          return string unless @framing.left

          @keep_alive = false if string.bytesize > @framing.left
          string = string.byteslice(0, [@framing.left, string.bytesize].min)
          @framing.left -= string.bytesize
          string
        end
      end
    end
  end
end
