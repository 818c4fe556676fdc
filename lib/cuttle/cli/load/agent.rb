# frozen_string_literal: true

module Cuttle
  class CLI
    class Load
      # `cuttle load --agent [HOST:]PORT`: a generator for other machines, until a signal stops it.
      class Agent
        def initialize(out:, err:)
          @out = out
          @err = err
        end

        def run(options)
          agent = Cuttle::Load::Agent.new(options.listen, token: options.token)
          previous = %w[INT TERM].to_h { |signal| [signal, trap(signal) { agent.stop }] }
          @out.puts "cuttle load: agent on port #{agent.port}"
          @out.flush
          agent.run { |line| @out.puts(line) unless options.quiet }
          0
        ensure
          previous&.each { |signal, handler| trap(signal, handler || "DEFAULT") }
        end
      end
    end
  end
end
