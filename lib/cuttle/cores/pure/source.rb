# frozen_string_literal: true

module Cuttle
  module Cores
    module Pure
      # What Poller and Acceptor share: options, listeners, counters, and the end of an exchange.
      #
      # A source tells a Wire its limits, spool and parser. A Wire and its Exchange tell their source what happens:
      # #changed, #left, #release and #wait_for_client.
      class Source
        include Forks::Inherited

        KEYWORDS = (Limits::NAMES + %i[trust proxy_protocol spool_directory env parser shared]).freeze
        RECOVERY = 0.1 # seconds before the next accept after a shortage
        EPISODE = 60.0 # seconds without a shortage after which the next one is reported
        SHORTAGES = [Errno::EMFILE, Errno::ENFILE, Errno::ENOMEM, Errno::ENOBUFS].freeze
        GONE = [Errno::EINTR, Errno::ECONNABORTED, Errno::EPROTO].freeze

        # Counts for #stats, from any thread.
        class Counters
          def initialize(*names)
            @counts = names.to_h { |name| [name, 0] }
            @lock = Mutex.new
          end

          def add(name, number = 1)
            @lock.synchronize { @counts[name] += number }
          end

          def [](name)
            @counts[name]
          end

          def to_h
            @lock.synchronize { @counts.dup }
          end
        end

        # +trust+: the Trust, or nil; +scoreboard+: the Scoreboard that counts requests, or nil; +hijacked+: the
        # Hijacked that notes the sockets which the app takes over, or nil
        attr_reader :limits, :counters, :spool, :env, :parser, :trust, :scoreboard, :hijacked

        # See Poller. Raises ArgumentError.
        def initialize(listeners, env: {}, parser: nil, trust: nil, proxy_protocol: false, spool_directory: nil,
                       scoreboard: nil, hijacked: nil, **options)
          unknown = options.keys - KEYWORDS
          raise ArgumentError, "unknown option: #{unknown.first.inspect}" unless unknown.empty?

          @listeners = listeners.dup
          @process = Process.pid
          @limits = Limits.new(**options.slice(*Limits::NAMES).compact)
          @trust = Trust.of(trust)
          @proxied = proxied(proxy_protocol)
          @spool = Spool.new(spool_directory, @limits.max_spool)
          @env = Env.new(env, listeners.first, limits: @limits, trust: !@trust.nil?)
          @parser = parser || Http::Parsers::Pure
          @scoreboard = scoreboard if scoreboard&.place
          @hijacked = hijacked
          @counters = Counters.new(:connections, :accepted, :requests, :dropped, :refused, :stuck, :unproxied)
          @stop_reader, @stop_writer = IO.pipe
          Forks.watch
        end

        # In a forked child: closes what belongs to the parent.
        def abandon
          [*@listeners, @stop_reader, @stop_writer].compact.each(&:close)
        end

        # Whether this process is a forked child of the one that made and owns the source.
        def forked?
          Process.pid != @process
        end

        def stopping?
          @stopping ? true : false
        end

        # Accepts the connections in the backlog and then no more, and lets the open connections end. +leave_backlog+:
        # other processes continue to accept from the listeners, and get the backlog; the first call decides. It sets
        # flags and writes to a descriptor, so a trap handler may call it.
        def stop(leave_backlog: false)
          @leave_backlog = leave_backlog unless @stopping
          @stopping = true
          signal
          nil
        end

        def stats
          { **@counters.to_h, spooled: @spool.used }
        end

        # Counts a request that a thread took, however it ended.
        def record(exchange)
          @scoreboard&.record(exchange.phases(Cuttle.now)) if exchange&.time(:taken) && !forked?
        end

        # Writes a line to $stderr about temporary files, unless this error is no news.
        def complain_of_spool(error)
          news = @spool.news_of(error) or return
          complain("#{news}: requests with a large body get 503")
        end

        # Counts a connection that a trusted peer began without a PROXY header. Writes a line to $stderr, at most one a
        # minute.
        def note_unproxied(now)
          @counters.add(:unproxied)
          return if @unproxied && now - @unproxied < EPISODE

          @unproxied = now
          complain("connections of trusted proxies began without a PROXY header and were closed (--proxy-protocol)")
        end

        # Ends a connection that select does not take. Under its lock.
        def refuse_excess(wire)
          complain_of_excess
          close_wire(wire)
        end

        # Ends a connection. Under its lock.
        def close_wire(wire)
          return if wire.closed?

          wire.close
          @counters.add(:connections, -1)
        end

        private

        # The listeners at which a trusted peer's connection begins with a PROXY header.
        def proxied(option)
          each = option.is_a?(Array) ? option : [option] * @listeners.size
          raise ArgumentError, "proxy_protocol: give one value for each listener" if each.size != @listeners.size

          @listeners.zip(each).filter_map { |listener, one| listener if one }
        end

        # Accepts a connection of any listener. Returns its socket and whether its listener is one of @proxied, or nil
        # if none waits or there is no room for it.
        def accept_any
          @listeners.each do |listener|
            socket = accept_one(listener)
            return [socket, @proxied.include?(listener)] if socket
          end
          @short = false
          nil
        rescue *SHORTAGES
          complain_of_shortage
          @short = true
          nil
        end

        def accept_one(listener)
          return if listener.closed?

          socket = listener.accept_nonblock(exception: false)
          return if socket.is_a?(Symbol)

          socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1) unless socket.is_a?(UNIXSocket)
          @counters.add(:accepted)
          @counters.add(:connections)
          socket
        rescue *GONE
          retry
        end

        def room_for_another?
          !@limits.max_connections || @counters[:connections] < @limits.max_connections
        end

        # One line for a shortage of descriptors or memory.
        def complain_of_shortage
          now = Cuttle.now
          news = @shortage.nil? || now - @shortage >= EPISODE
          @shortage = now
          return unless news

          complain("no connection can be accepted: the process or the system has no descriptors or memory left " \
                   "(see ulimit -n); clients wait")
        end

        # One line for descriptors that select does not take.
        def complain_of_excess
          return if @exceeded

          @exceeded = true
          complain("select takes no descriptor beyond #{Selectors::SELECTABLE - 1} on this system: connections " \
                   "beyond it are closed; install the gem nio4r, or set --max-connections")
        end

        # Writes a line to $stderr, without waiting: the lock may be held.
        def complain(text)
          $stderr.write_nonblock("cuttle: #{text}\n")
        rescue SystemCallError, IOError
          nil # nobody reads it
        end

        def close_listeners
          @listeners.each(&:close)
        end

        # Wakes the thread that waits for the stop. A trap handler may call it.
        def signal
          @stop_writer.write_nonblock(".", exception: false)
        rescue IOError, SystemCallError
          nil # the source has ended
        end
      end
    end
  end
end
