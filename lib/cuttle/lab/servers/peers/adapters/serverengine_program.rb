# frozen_string_literal: true

# The process that a lab starts as "serverengine": with APP loaded, and the arguments PORT BACKLOG WORKERS LOG.
# ServerEngine is a framework for servers of any protocol: it forks workers, supervises them and runs a given module in
# each. Here each worker takes one connection at a time from a shared listening socket, as in its documentation.

require "io/wait"
require "serverengine"
require "socket"
require_relative "adapter"

PORT, BACKLOG, WORKERS, LOG = ARGV

# Runs in the process that forks the workers.
module Listening
  attr_reader :listener

  def before_run
    @listener = TCPServer.new("127.0.0.1", PORT.to_i)
    @listener.listen(BACKLOG.to_i)
  end
end

# Runs in each worker.
module Serving
  INTERVAL = 0.1 # seconds between checks whether to stop

  def run
    @adapter = Adapter.new(APP, PORT)
    serve_one until @stopped
  end

  # Called in another thread.
  def stop
    @stopped = true
  end

  private

  def serve_one
    client = server.listener.wait_readable(INTERVAL) && server.listener.accept_nonblock(exception: false)
    return unless client.is_a?(TCPSocket)

    head = client.gets(Adapter::ENDING)
    client.write(@adapter.response(head)) if head&.end_with?(Adapter::ENDING)
  rescue SystemCallError
    nil # the client has gone
  ensure
    client.close if client.is_a?(TCPSocket)
  end
end

ServerEngine.create(Listening, Serving, worker_type: "process", workers: WORKERS.to_i, supervisor: false, log: LOG,
                                        log_level: "error").run
