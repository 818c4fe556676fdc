# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # The sockets that the app has taken over, as far as they are still open, and the end of WebSockets among them.
      # ext/cuttle/hijacked.h has the law and the states. As there, the list has descriptors' numbers and sockets'
      # identities, and no reference. (ObjectSpace::WeakMap with IOs crashes Ruby 3.1.)
      #
      # JRuby does not let us inspect descriptors, so there the list knows nothing. Systems other than Linux don't say
      # what a client has taken. So there no WebSocket gets a Close frame, because it could arrive in the middle of one
      # of the app's frames.
      class Hijacked
        LOOKS = RUBY_ENGINE != "jruby"
        TELLS = LOOKS && RUBY_PLATFORM.include?("linux")

        GOING_AWAY = [0x88, 2, 1001].pack("CCn").freeze # a Close frame (RFC 6455, 5.5.1)
        SILENCE = 0.3 # seconds without an octet; a thread may wait 0.1 s for each other one to run
        UNSENT = 0x5411 # SIOCOUTQ of Linux
        LAST_SENT = 44 # where struct tcp_info has it, as a number of 32 bits: milliseconds since octets were sent
        PATIENCE = 0.5 # seconds, with an app that does not close a socket after its end
        LEAST = 16 # sockets before the list is pruned

        # +silent_since+: nil if octets waited to be sent at the last look. +told+: when the Close frame was sent.
        Taken = Struct.new(:fileno, :identity, :websocket, :silent_since, :told)
        private_constant :LOOKS, :GOING_AWAY, :SILENCE, :UNSENT, :LAST_SENT, :PATIENCE, :LEAST, :Taken

        # Whether a request wants to become a WebSocket (RFC 6455, 4.2.1).
        def self.asks_for_websocket?(head)
          head.minor == 1 && listed(head.fields, "upgrade").include?("websocket") &&
            listed(head.fields, "connection").include?("upgrade") &&
            head.fields.any? { |name, _| name.casecmp?("sec-websocket-key") }
        end

        # Whether +fields+ (pairs of names and values) ask for one of the +protocols+ in a list, in any version: by
        # Upgrade, and by the option of Connection without which Upgrade may be meant for another recipient (RFC 9110,
        # 7.8).
        def self.asks_for?(fields, protocols)
          return false unless listed(fields, "connection").include?("upgrade")

          names = [listed(fields, "upgrade"), elements(protocols)].map { |list| list.map { |each| each[%r{\A[^/]*}] } }
          names.inject(:intersect?)
        end

        # The elements of a list, in lower case.
        def self.elements(list)
          Http::FieldValue.elements(list.downcase(:ascii))
        end

        def self.listed(fields, name)
          fields.filter_map { |each, value| value if each.casecmp?(name) }.flat_map { |value| elements(value) }
        end
        private_class_method :listed

        def initialize
          @process = Process.pid
          @lock = Mutex.new
          @sockets = []
          @enough = LEAST
          @told = 0
        end

        # Notes a socket that the app takes over.
        def add(socket, websocket)
          return unless LOOKS

          taken = Taken.new(socket.fileno, identity(socket), websocket)
          @lock.synchronize do
            @enough = [LEAST, 2 * prune.size].max if @sockets.size >= @enough
            @sockets << taken
          end
        end

        # How many of them are open; nil where that can't be known.
        def count
          open.size if LOOKS
        end

        # Sends a Close frame on the WebSockets on which the app is silent, without waiting. Returns how many are not
        # done; call it again a few milliseconds later.
        def part
          now = Cuttle.now
          websockets.count do |taken|
            next now - taken.told < PATIENCE if taken.told

            borrow(taken) { |socket| !over?(socket) && step(taken, socket, now) }
          end
        end

        # How many WebSockets got a Close frame, and how many got none although their clients are there.
        def told
          [@told, websockets.count { |taken| !taken.told && borrow(taken) { |socket| !over?(socket) } }]
        end

        private

        def open
          Process.pid == @process ? @lock.synchronize { prune.dup } : []
        end

        def websockets
          open.select(&:websocket)
        end

        # Forgets the sockets that the app has closed.
        def prune
          @sockets.select! { |taken| here?(taken) }
          @sockets
        end

        def here?(taken)
          identity(IO.for_fd(taken.fileno, autoclose: false)) == taken.identity
        rescue SystemCallError, ArgumentError
          false # another kind of file has the number, or none has
        end

        def identity(io)
          stat = io.stat
          [stat.dev, stat.ino]
        end

        # Yields a duplicate, which stays the socket's whatever the app does meanwhile, and returns what the block does.
        # Returns nil if the app has closed the socket.
        def borrow(taken)
          return unless here?(taken)

          copy = IO.for_fd(taken.fileno, autoclose: false).dup
          copy.autoclose = false
          socket = Socket.for_fd(copy.fileno)
          yield socket if identity(socket) == taken.identity
        rescue SystemCallError, ArgumentError
          nil
        ensure
          socket&.close
        end

        # Whether the client has ended its side.
        def over?(socket)
          octet = socket.recv_nonblock(1, Socket::MSG_PEEK, exception: false)
          octet.nil? || octet == ""
        rescue SystemCallError
          true
        end

        # Returns true: it is to be looked at again.
        def step(taken, socket, now)
          taken.silent_since = (last_sent(socket, now) || taken.silent_since || now if unsent(socket).zero?)
          tell(taken, socket, now) if taken.silent_since && now - taken.silent_since >= SILENCE
          true
        end

        # Octets that the client has not taken.
        def unsent(socket)
          count = [0].pack("i")
          socket.ioctl(UNSENT, count)
          count.unpack1("i")
        end

        # When the app has sent octets; nil if the system doesn't say, as for Unix sockets.
        def last_sent(socket, now)
          milliseconds = socket.getsockopt(Socket::IPPROTO_TCP, Socket::TCP_INFO).data.unpack1("L", offset: LAST_SENT)
          now - milliseconds / 1000.0
        rescue SystemCallError
          nil
        end

        # The frame leaves with the end of the output.
        def tell(taken, socket, now)
          taken.told = now
          @told += 1
          socket.send(GOING_AWAY, Socket::MSG_DONTWAIT | Socket::MSG_MORE)
          socket.shutdown(Socket::SHUT_RDWR)
        end
      end
    end
  end
end
