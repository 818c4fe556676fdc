# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # What a Wire sends: the app's response to its last octet, and answers in the app's place.
      module WireOutput
        SERVED = "this server speaks HTTP/1.1 and HTTP/1.0" # RFC 9110, 15.6.6: a 505 says so

        private

        def flush_early
          return :wait if @out.empty?

          @out.flush == :broken ? :close : :wait
        end

        def flush_taken(_now)
          @broken = true if @out.flush == :broken
          shut_sending if @stuck && @out.empty?
          :wait
        end

        def drain(now)
          case @out.flush
          when :done then settle(now)
          when :broken then :close
          else :wait
          end
        end

        # The response is out: the next request, or the end.
        def settle(now)
          last = @source.stopping?
          @exchange.mark(:last_octet, now)
          return end_connection(now) if !@exchange.keep_alive || (last && !@limits.drain_grace)

          end_exchange
          @state = :idle
          expect(last ? :drained : :idle, now)
          advance(now)
        end

        # Our last response is sent. If input that the peer still sends were not read, the system would reset the
        # connection, and the peer could lose the response (RFC 9112, 9.6).
        def end_connection(now)
          look_for_input unless @eof
          return :close if @eof || !(@refused || !@input.empty?)

          shut_sending
          @state = :linger
          end_exchange
          @input = String.new(encoding: Encoding::BINARY)
          expect(:lingered, now)
          :wait
        rescue SystemCallError, IOError
          :close
        end

        def shut_sending
          @socket.close_write
        rescue SystemCallError, IOError
          nil # the peer has gone
        end

        # Answers in place of the app, which never saw the request, and closes.
        def refuse(status, now)
          @exchange.keep_alive = false
          @exchange.drop_body
          @refused = true
          @deadline = nil
          send_error(status)
          finish(now)
        end

        # Queues a whole response in the application's place. retry_after: seconds (RFC 9110, 10.2.3).
        def send_error(status, retry_after: nil)
          text = "#{Reasons.of(status)}#{": #{SERVED}" if status == 505}\n"
          keeps = ("connection: close\r\n" unless @exchange.keep_alive) ||
                  ("connection: keep-alive\r\n" if @exchange.head&.minor&.zero?)
          @out.add("HTTP/1.1 #{status} #{Reasons.of(status)}\r\n#{ResponseHead.date_line}#{keeps}" \
                   "#{"retry-after: #{retry_after}\r\n" if retry_after}content-type: text/plain\r\n" \
                   "content-length: #{text.bytesize}\r\n\r\n#{text unless asks_for_head?}")
        end

        # Whether the request begins as a HEAD. Its response has no body (RFC 9110, 9.3.2), also if its head is refused.
        def asks_for_head?
          head = @exchange.head
          head ? head.http_method == "HEAD" : @input.match?(/\A(?:\r\n)?HEAD /n)
        end

        def output_late?(now)
          @meter.late?(@out.sent, @limits.min_rate, @limits.write_timeout, now)
        end

        def measure_output(now)
          @meter = Meter.new(@out.sent, now)
          expect(:look, now)
        end
      end
    end
  end
end
