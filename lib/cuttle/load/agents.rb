# frozen_string_literal: true

require "socket"

module Cuttle
  module Load
    # Several generators as one: `cuttle load URL --agents host:port,…`. It has the interface of Generator. It splits
    # the plan, and all agents start together. It merges windows as they arrive, and the results at the end, without
    # loss. If an agent is lost, the others finish their parts.
    class Agents
      autoload :Remote, "cuttle/load/agents/remote"

      CONNECT = 5 # seconds
      TICK = 0.05

      # Raises UsageError.
      def initialize(plan, addresses, token:)
        raise UsageError, "--agents needs a token: --token-file, or CUTTLE_LOAD_TOKEN" if token.to_s.empty?
        raise UsageError, "--agents: give at least one HOST:PORT" if addresses.empty?

        plan.check_parts(addresses.length)
        @plan = plan
        @addresses = addresses.map { |address| split(address) }
        @token = token
        @remotes = []
        @interrupted = false
      end

      # As Generator#run. Raises Failure if an agent can't start, or if all are lost, and Generator::Incomplete if some
      # are.
      def run(on_window: nil, on_tick: nil)
        @addresses.each { |host, port| @remotes << Remote.new(connect(host, port)) }
        @plans = @plan.split(@remotes.map(&:threads))
        @remotes.zip(@plans) { |remote, plan| remote.prepare(plan) }
        @remotes.each(&:await)
        @remotes.each(&:go)
        collect(on_window, on_tick)
        result(@remotes.filter_map(&:result), @remotes.filter_map(&:error))
      ensure
        @remotes.each(&:close)
      end

      # Signal-safe: #collect passes the interruption on.
      def interrupt
        @interrupted = true
      end

      private

      def split(address)
        match = /\A(?<host>.+):(?<port>\d{1,5})\z/.match(address) or
          raise UsageError, "--agents: HOST:PORT,…, not #{address.inspect}"
        [match[:host].delete_prefix("[").delete_suffix("]"), match[:port].to_i]
      end

      def connect(host, port)
        socket = Socket.tcp(host, port, connect_timeout: CONNECT)
        socket.setsockopt(:TCP, :NODELAY, true)
        Wire.new(socket, "agent #{host}:#{port}").tap { |wire| wire.authenticate(@token, "caller") }
      rescue SystemCallError => error
        raise Failure, "agent #{host}:#{port}: #{Load.reason(error)}"
      rescue SocketError
        raise Failure, "agent #{host}:#{port}: the name can't be resolved"
      end

      # --- while they run ---

      def collect(on_window, on_tick)
        started = Cuttle.now
        while @remotes.any?(&:running?)
          pass_on_interrupt
          @remotes.each { |remote| remote.listen(TICK / @remotes.length) }
          emit(on_window) if on_window
          on_tick&.call(Cuttle.now - started, @remotes.map(&:live).transpose.map(&:sum))
        end
      end

      def pass_on_interrupt
        return if !@interrupted || @told

        @told = true
        @remotes.each(&:stop)
      end

      # Passes on the seconds that all running agents have reported; at the end also the windows after the last second.
      def emit(on_window)
        on_window.call(Window.merge(@remotes.filter_map { |remote| remote.windows.shift })) while told?
        drained = @remotes.flat_map(&:drained)
        on_window.call(Window.merge(drained)) if @remotes.none?(&:running?) && drained.any?
      end

      def told?
        @remotes.any? { |remote| remote.windows.any? } &&
          @remotes.all? { |remote| remote.windows.any? || !remote.running? }
      end

      # --- at the end ---

      def result(results, errors)
        raise Failure, errors.join("; ") if results.empty?
        return Result.merge(results, settings: settings) if errors.empty?

        partial = Result.merge(results, settings: settings.merge("lost" => errors))
        raise Generator::Incomplete.new(errors.join("; "), partial)
      end

      def settings
        @plan.settings.merge("threads" => @plans.sum(&:threads), "agents" => @addresses.map { |pair| pair.join(":") })
      end
    end
  end
end
