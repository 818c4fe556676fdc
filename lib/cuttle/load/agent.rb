# frozen_string_literal: true

require "socket"

module Cuttle
  module Load
    # A generator for other generators: `cuttle load --agent LISTEN`. It does one run at a time, for one caller after
    # the other.
    #
    #   caller                          agent
    #                               <-  threads: the number that suits this machine
    #   plan (Plan#to_wire)         ->
    #                               <-  ready, or error
    #   go                          ->
    #                               <-  tick, window … once a second
    #   stop (early or never)       ->
    #                               <-  result (its windows are those above), or error, or both
    class Agent
      ANSWER = 60 # seconds in which a caller must send go

      # listen: "HOST:PORT" or "PORT" (all addresses). Raises UsageError and Failure.
      def initialize(listen, token:)
        raise UsageError, "--agent needs a token: --token-file, or CUTTLE_LOAD_TOKEN" if token.to_s.empty?

        @token = token
        @server = open(listen)
        @stopped = false
      end

      def port
        @server.local_address.ip_port
      end

      # Serves callers until #stop. The block is called with a line for each event.
      def run(&log)
        until @stopped
          socket = accept or next
          serve(socket, log || ->(_) {})
        end
      ensure
        @server.close
      end

      # Ends #run after the current caller. Signal-safe.
      def stop
        @stopped = true
      end

      private

      def open(listen)
        host, port = split(listen)
        TCPServer.new(host, port)
      rescue SystemCallError => error
        raise Failure, "#{listen}: #{Load.reason(error)}"
      rescue SocketError
        raise Failure, "#{listen}: no such address here"
      end

      def split(listen)
        match = /\A(?:(?<host>.+):)?(?<port>\d{1,5})\z/.match(listen.to_s) or
          raise UsageError, "--agent: [HOST:]PORT, not #{listen.inspect}"
        [match[:host]&.delete_prefix("[")&.delete_suffix("]"), match[:port].to_i]
      end

      def accept
        @server.accept if @server.wait_readable(0.2)
      end

      def serve(socket, log)
        wire = Wire.new(socket, socket.remote_address.inspect_sockaddr)
        wire.authenticate(@token, "agent")
        log.call("#{wire.name}: #{load(wire)}")
      rescue Wire::Lost, SystemCallError => error # such as a caller that is gone before it is asked for its address
        log.call(error.message)
      ensure
        socket.close
      end

      # Runs one plan, and returns its outcome as text.
      def load(wire)
        wire.put("threads" => Plan.threads_here)
        generator = Generator.new(Plan.from_wire(wire.demand.fetch("plan"))).prepare
        wire.put("ready" => true)
        return "did not start" unless wire.get(timeout: ANSWER)&.key?("go")

        result = measure(generator, wire)
        wire.put("result" => rest(result))
        Units.plural(result.responses, "response")
      rescue Wire::Lost
        raise
      rescue Generator::Incomplete => error
        wire.put("error" => error.message, "result" => rest(error.result))
        "failed: #{error.message}"
      rescue Error, KeyError, TypeError, NoMethodError => error
        wire.put("error" => error.is_a?(Error) ? error.message : "the plan is not valid")
        "refused: #{error.message}"
      end

      # What the caller doesn't have yet of a result. The windows of hours would be too long for a message.
      def rest(result)
        result.to_h.except("windows")
      end

      def measure(generator, wire)
        generator.run(on_window: ->(window) { wire.put("window" => window.to_h) }, on_tick: lambda do |elapsed, live|
          wire.put("tick" => [elapsed, live])
          generator.interrupt if @stopped || wire.get(timeout: 0)&.key?("stop")
        end)
      end
    end
  end
end
