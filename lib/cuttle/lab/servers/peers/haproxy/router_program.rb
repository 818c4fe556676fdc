# frozen_string_literal: true

# The process that a lab starts as "haproxy": `ruby router_program.rb FILE`. The JSON file has "backends", each with the
# "command" of a server and the "socket" on which it listens, and "router", HAProxy's command. It starts the servers
# first, and HAProxy when all of them accept. TERM or INT ends everything. So does the end of any process, with status
# 1.

require "json"
require "socket"

module Cuttle
  module Lab
    # Processes that start and end together.
    class Router
      INTERVAL = 0.02 # seconds between checks

      def initialize(plan)
        @backends = plan.fetch("backends")
        @router = plan.fetch("router")
        @pids = []
      end

      # Returns when one of them has ended.
      def run
        @backends.each { |backend| start(backend.fetch("command")) }
        sleep INTERVAL until ended? || @backends.all? { |backend| accepts?(backend.fetch("socket")) }
        return if ended?

        start(@router)
        sleep INTERVAL until ended?
      end

      # Stops the router first, so that no request reaches a server that is gone.
      def stop
        @pids.reverse_each { |pid| Process.kill(:TERM, pid) }
        @pids.each { |pid| Process.wait(pid) }
      end

      private

      def start(command)
        @pids << Process.spawn(*command)
      end

      # Reaps an ended process. Its pid must not be signalled any more.
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
