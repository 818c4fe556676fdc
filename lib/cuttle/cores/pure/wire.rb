# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # One client's connection: socket, input, deadline and the current exchange, as one state machine. It never waits:
      # each step does what it can and returns what comes next (:wait for the socket, :complete, :close).
      #
      #            octets          head, body          take               finish
      #   idle ----------> head ----------> ready ----------> taken ----------------> drain
      #    ^  \             |  \   body  /                                          |  |
      #    |   `- late: closed  broken, late: an error response ----------> drain   |  |
      #    `--------------------- persists: all octets are out <--------------------'  |
      #                           else: linger (the peer may still send) or closed <---'
      #
      # Whoever holds its lock runs it: a Poller's lock, or the connection's own on the blocking side.
      class Wire
        READ = 16_384      # octets
        LINGER = 2.0       # seconds for the peer to read our last octets
        FIRST_GRACE = 0.5  # seconds after stop for the first request on a new connection

        attr_reader :source, :limits, :socket, :lock, :out, :state, :exchange, :accepted, :served, :deadline

        def initialize(source, socket, lock, now)
          @source = source
          @limits = source.limits
          @socket = socket
          @lock = lock
          @parser = source.parser.new
          @input = String.new(encoding: Encoding::BINARY)
          @out = Outbox.new(socket)
          @state = :idle
          @served = 0
          @accepted = now
          expect(:head, now)
        end

        # Runs the block under the lock, and to its end, whatever other threads raise in this one.
        def guard(&block)
          Thread.handle_interrupt(Object => :never) { @lock.synchronize(&block) }
        end

        def broken? = @broken || closed?
        def closed? = @state == :closed
        def stuck? = @stuck
        def reads? = %i[idle head body linger].include?(@state)
        def writes? = !@out.empty?

        def remote_address
          @remote_address ||= Env.remote_address(@socket)
        end

        # Does what it can without waiting. For any state but :ready.
        def step(now)
          case @state
          when :idle, :head, :body then flush_early == :close ? :close : receive(now)
          when :taken then flush_taken(now)
          when :drain then drain(now)
          when :linger then throw_away
          else :wait
          end
        end

        # Makes a ready connection one of the calling thread.
        def take(now)
          @state = :taken
          @exchange.mark(:taken, now)
          expect(:begun, now)
          @exchange
        end

        # Whether the peer has gone for good, so that nobody would read a response.
        def gone?
          octet = @socket.recv_nonblock(1, Socket::MSG_PEEK, exception: false)
          return false if octet == :wait_readable

          octet.to_s.empty? && @limits.drop_half_closed?
        rescue SystemCallError, IOError
          true
        end

        # Begins the app's response. Returns false if it is too late: the request was stuck and has been answered.
        def begin_response
          return false if @stuck

          @deadline = nil if @deadline_kind == :begun
          true
        end

        # Sends what the client takes now while the app adds to the response.
        def send_queued
          result = @out.flush
          @broken = true if result == :broken
          measure_output(Pure.now) if !@out.empty? && @deadline.nil?
          @source.changed(self)
        end

        # Ends a response that is complete, in the outbox or on the wire.
        def finish(now)
          return :close if @broken

          @state = :drain
          measure_output(now) if !@out.empty? && @deadline.nil?
          drain(now)
        end

        # Handles a deadline that has passed.
        def expire(now)
          kind = @deadline_kind
          @deadline = nil
          case @state
          when :head then fail(408, now)
          when :body then body_late?(now) ? fail(408, now) : look_again(now)
          when :taken then expire_taken(kind, now)
          when :drain then output_late?(now) ? :close : look_again(now)
          else :close
          end
        end

        # Answers a ready connection with 503 and Retry-After instead of giving it to a thread.
        def decline(now)
          @state = :drain
          @deadline = nil
          @exchange.keep_alive = false if @source.stopping?
          send_error(503, retry_after: [@limits.queue_timeout.to_f.ceil, 1].max)
          finish(now)
        end

        # After stop, a request may still be on its way on an idle connection. A new connection waits a moment for it, a
        # kept one the drain grace.
        def drain_idle(now)
          result = step(now)
          return result unless @state == :idle && result != :close
          return :close if @served.positive? && !@limits.drain_grace

          expect(@served.positive? ? :drained : :asked, now)
          :wait
        end

        def idle?
          @state == :idle
        end

        # After stop, gives an idle connection time for one more request. Returns false if it has none.
        def spare(now)
          kind = @served.positive? ? :drained : :asked
          return false unless seconds(kind)

          expect(kind, now) unless @deadline && @deadline_kind == kind
          true
        end

        # The request is in the app for too long: answers it for the app.
        def answer_for_app(now)
          @stuck = true
          @exchange.keep_alive = false
          send_error(503)
          @out.flush == :done ? shut_sending : measure_output(now)
          :stuck
        end

        # Closes the socket and releases everything.
        def close
          return if closed?

          @socket.close unless @socket.closed?
          dismantle
        rescue SystemCallError, IOError
          dismantle
        end

        # Like #close, but gives up the socket. Returns it and the input that was not used.
        def release
          rest = @input
          @deadline = nil
          @state = :closed
          @exchange = nil
          [@socket, rest]
        end

        private

        # Replaces the deadline with that of one kind, which has a constant time.
        def expect(kind, now)
          seconds = seconds(kind)
          @deadline_kind = kind
          @deadline = seconds && now + seconds
        end

        def seconds(kind)
          case kind
          when :head then @limits.header_timeout
          when :idle then @limits.idle_timeout
          when :drained then @limits.drain_grace
          when :taken then @limits.queue_timeout
          when :begun then @limits.app_timeout
          when :look then @limits.look
          when :lingered then LINGER
          when :asked then FIRST_GRACE
          end
        end

        def look_again(now)
          expect(:look, now)
          :wait
        end

        # Input

        def receive(now)
          octets = @socket.read_nonblock(READ, exception: false)
          return :wait if octets.is_a?(Symbol)

          octets ? @input << octets : @eof = true
          advance(now)
        rescue SystemCallError, IOError
          :close
        end

        # Makes of the input what it is: a head, a body, a complete request.
        def advance(now)
          return take_body(now) if @state == :body
          return hungry(now) if @input.empty?

          take_head(now)
        end

        # More octets are needed. A request that the peer left unfinished never reaches the app.
        def hungry(now)
          return :wait unless @eof

          @state == :idle ? :close : fail(400, now)
        end

        # An empty line before a request does not begin one (RFC 9112, 2.2).
        def take_head(now)
          if @state == :idle
            return hungry(now) if "\r\n".start_with?(@input)

            begin_head(now)
          end
          head = parse { @parser.head(@input) }
          return fail(head, now) if head.is_a?(Integer)

          head ? begin_body(head, now) : hungry(now)
        end

        def begin_head(now)
          @exchange = Exchange.new(self, now)
          @out.restart
          @state = :head
          expect(:head, now)
        end

        # What the parser returns, or the status to answer. Anything but a ParseError is the parser's own fault.
        def parse
          yield
        rescue Http::ParseError => error
          error.status
        rescue StandardError
          500
        end

        def begin_body(head, now)
          @exchange.head = head
          @input = @input.byteslice(head.bytesize..)
          @left = head.content_length
          return complete(now) if @left&.zero?

          @state = :body
          return fail(413, now) if @left && @limits.max_body && @left > @limits.max_body
          return fail(503, now) if @left && @left > Body::MEMORY && !@source.spool.room?(@left)

          @exchange.body = Body.new(@source.spool)
          return :close if head.expect_continue && @input.empty? && !send_continue

          @meter = Meter.new(0, now)
          expect(:look, now)
          take_body(now)
        end

        # RFC 9110, 10.1.1: a client that waits gets a 100 unless its body is already on the way.
        def send_continue
          @out.add("HTTP/1.1 100 Continue\r\n\r\n")
          @out.flush != :broken
        end

        def take_body(now)
          @left ? take_known_length(now) : take_chunks(now)
        end

        def take_known_length(now)
          piece = @input.byteslice(0, @left)
          @input = @input.byteslice(piece.bytesize..)
          @left -= piece.bytesize
          status = keep(piece)
          return fail(status, now) if status

          @left.zero? ? complete(now) : hungry(now)
        end

        def take_chunks(now)
          result = parse { @parser.chunks(@input) }
          return fail(result, now) if result.is_a?(Integer)

          consumed, data, done = result
          @input = @input.byteslice(consumed..)
          status = keep(data)
          return fail(status, now) if status
          return complete(now) if done

          consumed.zero? || @input.empty? ? hungry(now) : take_chunks(now)
        end

        # Appends octets to the body. Returns the status that ends the request if it can't keep them.
        def keep(octets)
          return 413 if @limits.max_body && @exchange.body.total + octets.bytesize > @limits.max_body

          @exchange.body.append(octets)
          nil
        rescue Spool::Full, SystemCallError => error
          @source.complain_of_spool(error)
          503
        end

        def complete(now)
          @state = :ready
          @served += 1
          @exchange.mark(:complete, now)
          @exchange.keep_alive = @exchange.head.keep_alive && @limits.keep_alive &&
                                 !(@limits.max_requests && @served >= @limits.max_requests)
          expect(:taken, now)
          @source.counters.add(:requests)
          :complete
        end

        def throw_away
          octets = @socket.read_nonblock(READ, exception: false)
          octets.nil? ? :close : :wait
        rescue SystemCallError, IOError
          :close
        end

        # Output

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
          return end_connection(now) if !@exchange.keep_alive || (last && !@limits.drain_grace)

          @exchange = nil
          @state = :idle
          expect(last ? :drained : :idle, now)
          advance(now)
        end

        # Our last response is out. What the peer still sent would make the system reset the connection, and the peer
        # lose the response, if it were not read (RFC 9112, 9.6).
        def end_connection(now)
          return :close if @eof || !(@refused || !@input.empty? || pending_input?)

          shut_sending
          @state = :linger
          @exchange = nil
          @input = String.new(encoding: Encoding::BINARY)
          expect(:lingered, now)
          :wait
        end

        def pending_input?
          !%i[wait_readable].include?(@socket.recv_nonblock(1, Socket::MSG_PEEK, exception: false))
        rescue SystemCallError, IOError
          false
        end

        def shut_sending
          @socket.close_write
        rescue SystemCallError, IOError
          nil # the peer has gone
        end

        # Answers in place of the app, which never saw the request, and closes.
        def fail(status, now)
          @exchange.keep_alive = false
          @exchange.drop_body
          @refused = true
          @deadline = nil
          send_error(status)
          finish(now)
        end

        # Queues a whole response in the application's place. retry_after: seconds (RFC 9110, 10.2.3).
        def send_error(status, retry_after: nil)
          text = "#{Reasons.of(status)}\n"
          head = @exchange.head
          keeps = ("connection: close\r\n" unless @exchange.keep_alive) ||
                  ("connection: keep-alive\r\n" if head&.minor&.zero?)
          @out.add("HTTP/1.1 #{status} #{Reasons.of(status)}\r\n#{ResponseHead.date_line}#{keeps}" \
                   "#{"retry-after: #{retry_after}\r\n" if retry_after}content-type: text/plain\r\n" \
                   "content-length: #{text.bytesize}\r\n\r\n#{text unless head&.http_method == "HEAD"}")
        end

        # Deadlines

        def body_late?(now)
          return true if @limits.body_timeout && now - @meter.began >= @limits.body_timeout

          @meter.late?(@exchange.body.total, @limits.min_rate, nil, now)
        end

        def output_late?(now)
          @meter.late?(@out.sent, @limits.min_rate, @limits.write_timeout, now)
        end

        def measure_output(now)
          @meter = Meter.new(@out.sent, now)
          expect(:look, now)
        end

        def expire_taken(kind, now)
          return answer_for_app(now) if kind == :begun
          return :wait if @out.empty?

          @broken = true if output_late?(now)
          look_again(now)
        end

        def dismantle
          @exchange&.drop_body unless @state == :taken # whoever has the exchange disposes of it
          @state = :closed
          @deadline = nil
          @out.clear
          @exchange = nil
        end
      end
    end
  end
end
