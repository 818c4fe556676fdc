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
      # The thread that holds its lock runs it: a Poller's lock, or the connection's own on the blocking side.
      class Wire
        include Forks::Inherited
        include WireInput
        include WireOutput

        TICK = 10          # milliseconds of the longest tick of a system
        LINGER = 2.0       # seconds for the peer to read our last octets
        FIRST_GRACE = 0.5  # seconds after stop for the first request on a new connection

        attr_reader :source, :limits, :socket, :out, :state, :exchange, :accepted, :served, :deadline

        def initialize(source, socket, lock, now, proxied: false)
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
          @backlog = time_in_backlog
          @trusted = source.trust&.peer?(socket)
          @proxy_due = @trusted && proxied
          expect(:head, now)
        end

        def guard(&block)
          Pure.guard(@lock, &block)
        end

        # Nanoseconds that the connection's first request waited in the kernel's backlog; nil if that is not known.
        def backlog = @backlog && (@served.zero? ? @backlog : 0)

        def broken? = @broken || closed?
        def closed? = @state == :closed
        def stuck? = @stuck
        def reads? = %i[idle head body linger].include?(@state)
        def writes? = !@out.empty?

        # The address that counts for all requests of the connection.
        def remote_address
          @remote_address ||= Env.remote_address(@socket)
        end

        # Whether the fields of its requests that name a proxy's client count: the peer, or the client that it named, is
        # trusted.
        def trusted? = @trusted

        # Whether a PROXY header said that the client speaks TLS with the proxy.
        def secure? = @secure

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
          look_for_input
          @eof ? @limits.drop_half_closed? : false
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
          measure_output(Cuttle.now) if !@out.empty? && @deadline.nil?
          @source.changed(self)
        end

        # Sends nothing more; the app learns that the client has gone.
        def give_up
          @broken = true
          @out.clear
        end

        # Ends a response that is complete, in the outbox or on the wire.
        def finish(now)
          return :close if @broken

          @state = :drain
          measure_output(now) if !@out.empty? && @deadline.nil?
          drain(now)
        end

        # Handles a deadline that has passed. Octets that came but were not read yet are read first, and count as in
        # time.
        def expire(now)
          kind = @deadline_kind
          @deadline = nil
          case @state
          when :idle, :head, :body then expire_input(now)
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

          reset_if_cut
          @socket.close unless @socket.closed?
          dismantle
        rescue SystemCallError, IOError
          dismantle
        end

        # In a forked child: closes its copy. A socket that was given up is the app's.
        def abandon
          @socket&.close unless closed?
        end

        # Like #close, but gives up the socket. Returns it and the input that was not used.
        def release
          rest = @input
          @deadline = nil
          @state = :closed
          end_exchange
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

        def expire_taken(kind, now)
          return answer_for_app(now) if kind == :begun
          return :wait if @out.empty?

          @broken = true if output_late?(now)
          look_again(now)
        end

        # RFC 9112, 8: a response without a length seems complete, unless the connection ends with an error.
        def reset_if_cut
          return unless @exchange&.unbounded? && (@state == :taken || !@out.empty?)

          @socket.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("i2"))
        rescue SystemCallError, IOError
          nil # the peer or the app has ended it
        end

        def dismantle
          @exchange&.drop_body unless @state == :taken # whoever has the exchange disposes of it
          @state = :closed
          @deadline = nil
          @out.clear
          end_exchange
        end

        def end_exchange
          @source.record(@exchange)
          @exchange = nil
        end

        # How long the system let the connection wait to be accepted, in nanoseconds; nil where it doesn't say. (Linux:
        # tcpi_last_data_recv, the time since the handshake or the last data, in milliseconds; it counts in ticks, and
        # one can't be told from none.)
        def time_in_backlog
          return unless @source.scoreboard && RUBY_PLATFORM.include?("linux") && !@socket.is_a?(UNIXSocket)

          milliseconds = @socket.getsockopt(Socket::IPPROTO_TCP, Socket::TCP_INFO).data.unpack1("@52L")
          milliseconds && (milliseconds > TICK ? milliseconds * 1_000_000 : 0)
        rescue SystemCallError, IOError, NameError
          nil # JRuby, or the peer has gone
        end
      end
    end
  end
end
