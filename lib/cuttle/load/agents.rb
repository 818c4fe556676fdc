# frozen_string_literal: true

require "socket"

module Cuttle
  module Load
    # Several generators as one: `cuttle load URL --agents host:port,…`. It has the interface of Generator. It splits
    # the plan, and all agents start together. It merges windows as they arrive, and the results at the end, without
    # loss.
    class Agents
      CONNECT = 5 # seconds
      SILENCE = 15 # seconds without a message after which an agent is lost
      TICK = 0.05

      # Raises UsageError.
      def initialize(plan, addresses, token:)
        raise UsageError, "--agents needs a token: --token-file, or CUTTLE_LOAD_TOKEN" if token.to_s.empty?

        @plan = plan
        @plans = plan.split(addresses.length)
        @addresses = addresses.map { |address| split(address) }
        @token = token
        @interrupted = false
      end

      # As Generator#run. Raises Failure if an agent can't be used, or is lost.
      def run(on_window: nil, on_tick: nil)
        @wires = []
        @addresses.each { |host, port| @wires << connect(host, port) }
        prepare
        @wires.each { |wire| wire.put("go" => true) }
        collect(on_window, on_tick)
        Result.merge(@results, settings: settings)
      ensure
        @wires&.each(&:close)
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

      def prepare
        @wires.zip(@plans) { |wire, plan| wire.put("plan" => plan.to_wire) }
        @wires.each { |wire| check(wire, wire.demand(timeout: 30)) }
      end

      def check(wire, message)
        raise Failure, "#{wire.name}: #{message["error"]}" if message["error"]
      end

      # --- while they run ---

      def collect(on_window, on_tick)
        @results = Array.new(@wires.length)
        @windows = Array.new(@wires.length) { [] }
        @drained = []
        @live = Array.new(@wires.length) { [0, 0, 0, 0, 0] }
        heard = Array.new(@wires.length) { Cuttle.now }
        started = Cuttle.now
        until @results.all?
          pass_on_interrupt
          listen(heard)
          emit(on_window)
          on_tick&.call(Cuttle.now - started, @live.transpose.map(&:sum))
        end
      end

      def pass_on_interrupt
        return if !@interrupted || @told

        @told = true
        @wires.each_with_index { |wire, index| wire.put("stop" => true) unless @results[index] }
      end

      def listen(heard)
        @wires.each_with_index do |wire, index|
          next if @results[index]

          while (message = @results[index] ? nil : wire.get(timeout: TICK / @wires.length))
            heard[index] = Cuttle.now
            take(wire, index, message)
          end
          raise Failure, "#{wire.name}: silent for #{SILENCE} s" if Cuttle.now - heard[index] > SILENCE
        end
      end

      def take(wire, index, message)
        check(wire, message)
        keep(index, Window.load(message["window"]).part) if message["window"]
        @live[index] = message["tick"][1] if message["tick"]
        @results[index] = Result.load(message["result"]) if message["result"]
      end

      def keep(index, part)
        (part[:draining] ? @drained : @windows[index]) << part
      end

      # Passes on the seconds that all running agents have reported; at the end also the windows after the last second.
      def emit(on_window)
        return unless on_window

        on_window.call(Window.merge(@windows.map(&:shift).compact)) while told?
        on_window.call(Window.merge(@drained)) if @results.all? && @drained.any?
      end

      def told?
        @windows.any?(&:any?) && @windows.each_with_index.all? { |windows, index| windows.any? || @results[index] }
      end

      def settings
        @plan.settings.merge("threads" => @plans.sum(&:threads), "agents" => @addresses.map { |pair| pair.join(":") })
      end
    end
  end
end
