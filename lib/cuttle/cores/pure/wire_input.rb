# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # What a Wire reads, and what it makes of it: a head, a body, a complete request.
      module WireInput
        READ = 16_384 # octets

        private

        def receive(now)
          octets = @socket.read_nonblock(READ, exception: false)
          return :wait if octets.is_a?(Symbol)

          octets ? @input << octets : @eof = true
          advance(now)
        rescue SystemCallError, IOError
          :close
        end

        # Looks whether the peer has sent more or has ended. An octet that comes is input: JRuby's sockets can't peek.
        def look_for_input
          octet = @socket.read_nonblock(1, exception: false)
          octet.nil? ? @eof = true : (@input << octet unless octet.is_a?(Symbol))
        end

        # Turns the input into a head, a body, a complete request.
        def advance(now)
          return take_body(now) if @state == :body
          return hungry(now) if @input.empty?

          take_head(now)
        end

        # More octets are needed. A request that the peer doesn't finish never reaches the app.
        def hungry(now)
          return :wait unless @eof

          @state == :idle ? :close : refuse(400, now)
        end

        def take_proxy_header(now)
          header = ProxyHeader.parse(@input) or return hungry(now)
          introduce(header)
          @input = @input.byteslice(header.bytesize..)
          advance(now)
        rescue ProxyHeader::Malformed
          @source.note_unproxied(now)
          :close
        end

        # A trusted peer that names a client is replaced by that client, which may be trusted in turn.
        def introduce(header)
          @proxy_due = false
          @secure = header.secure?
          @remote_address = Address.text(header.address) if header.client == :named
          @trusted = header.client == :itself ||
                     (header.client == :named && @source.trust.includes?(header.address))
        end

        # An empty line before a request does not begin one (RFC 9112, 2.2).
        def take_head(now)
          return take_proxy_header(now) if @proxy_due

          if @state == :idle
            return hungry(now) if "\r\n".start_with?(@input)

            begin_head(now)
          end
          head = parse { @parser.head(@input) }
          return refuse(head, now) if head.is_a?(Integer)

          head ? end_head(head, now) : hungry(now)
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

        # The head is complete: judges what depends on the connection, which the parser doesn't know.
        def end_head(head, now)
          @exchange.head = head
          @input = @input.byteslice(head.bytesize..)
          misdirected?(head.target) ? refuse(421, now) : begin_body(head, now)
        end

        # RFC 9110, 7.4: an https resource is asked for over TLS with a proxy that we trust. This core has none itself.
        def misdirected?(target)
          !@secure && !@trusted && target.match?(/\Ahttps:/in)
        end

        def begin_body(head, now)
          @left = head.content_length
          return complete(now) if @left&.zero?

          @state = :body
          return refuse(413, now) if @left && @limits.max_body && @left > @limits.max_body

          status = spooling { @source.spool.check(@left) } if @left && @left > Body::MEMORY
          return refuse(status, now) if status

          @exchange.body = Body.new(@source.spool)
          return :close if head.expect_continue && @input.empty? && !send_continue

          @meter = Meter.new(0, now)
          expect(:look, now)
          take_body(now)
        end

        # RFC 9110, 10.1.1: a client that waits gets a 100 unless its body is already on the way.
        def send_continue
          @exchange.continued = true
          @out.add(Responses::CONTINUE)
          @out.flush != :broken
        end

        def take_body(now)
          @left ? take_known_length(now) : take_chunks(now)
        end

        def take_known_length(now)
          piece = @input.byteslice(0, [@left, @input.bytesize].min) # JRuby takes no length beyond 31 bits
          @input = @input.byteslice(piece.bytesize..)
          @left -= piece.bytesize
          status = keep(piece)
          return refuse(status, now) if status

          @left.zero? ? complete(now) : hungry(now)
        end

        def take_chunks(now)
          result = parse { @parser.chunks(@input) }
          return refuse(result, now) if result.is_a?(Integer)

          consumed, data, done = result
          @input = @input.byteslice(consumed..)
          status = keep(data)
          return refuse(status, now) if status
          return complete(now) if done

          consumed.zero? || @input.empty? ? hungry(now) : take_chunks(now)
        end

        # Appends octets to the body. Returns the status that ends the request if it can't keep them.
        def keep(octets)
          return 413 if @limits.max_body && @exchange.body.total + octets.bytesize > @limits.max_body

          spooling { @exchange.body.append(octets) }
        end

        # Returns 503 if temporary files can't take what the block gives them, otherwise nil.
        def spooling
          yield
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

        # The deadline of a connection that waits for octets of a request. What the peer has sent in time may still be
        # in the kernel.
        def expire_input(now)
          state = @state
          result = step(now)
          return result if @state != state || result == :close
          return :close if state == :idle

          state == :body && !body_late?(now) ? look_again(now) : refuse(408, now)
        end

        def throw_away
          octets = @socket.read_nonblock(READ, exception: false)
          octets.nil? ? :close : :wait
        rescue SystemCallError, IOError
          :close
        end

        def body_late?(now)
          return true if @limits.body_timeout && now - @meter.began >= @limits.body_timeout

          @meter.late?(@exchange.body.total, @limits.min_rate, nil, now)
        end
      end
    end
  end
end
