# frozen_string_literal: true

# The process that a lab starts as "haproxy": `ruby router_program.rb FILE`. The file, JSON, has "backends", each with the
# "command" of a server and the "socket" on which that listens, and "router", HAProxy's command. Servers come first, and
# HAProxy once all of them accept. A TERM or INT ends everything; so does the end of any one of them, with status 1.

require "json"
require "socket"

module Cuttle
  module Lab
    # Processes of one server, started and ended together.
    class Router
      INTERVAL = 0.02 # seconds between looks at who is there

      def initialize(plan)
        @backends = plan.fetch("backends")
        @router = plan.fetch("router")
        @pids = []
      end

      # Returns when one of them ended.
      def run
        @backends.each { |backend| start(backend.fetch("command")) }
        sleep INTERVAL until ended? || @backends.all? { |backend| accepts?(backend.fetch("socket")) }
        return if ended?

        start(@router)
        sleep INTERVAL until ended?
      end

      # The router first, so that nobody asks a server that is gone.
      def stop
        @pids.reverse_each { |pid| Process.kill(:TERM, pid) }
        @pids.each { |pid| Process.wait(pid) }
      end

      private

      def start(command)
        @pids << Process.spawn(*command)
      end

      # Its pid is not ours to signal any more.
      def ended?
        @ended ||= @pids.delete(Process.wait(-1, Process::WNOHANG))
      end

      def accepts?(path)
        UNIXSocket.open(path, &:close)
        true
      rescue SystemCallError
        false
      end
    end
  end
end

router = Cuttle::Lab::Router.new(JSON.parse(File.read(ARGV.fetch(0))))
%i[TERM INT].each { |signal| trap(signal) { exit } }
begin
  router.run
  exit 1
ensure
  %i[TERM INT].each { |signal| trap(signal, "IGNORE") }
  router.stop
end
