# frozen_string_literal: true

# The process that a lab starts as "serverengine": with APP loaded, and PORT BACKLOG WORKERS LOG.
# ServerEngine is a framework for servers of any protocol: it forks workers and supervises them, and each runs what it
# is given. Here each takes one connection at a time from a listening socket that all share, as in its documentation.

require "io/wait"
require "serverengine"
require "socket"
require_relative "adapter"

PORT, BACKLOG, WORKERS, LOG = ARGV

# In the process that forks the workers.
module Listening
  attr_reader :listener

  def before_run
    @listener = TCPServer.new("127.0.0.1", PORT.to_i)
    @listener.listen(BACKLOG.to_i)
  end
end

# In each worker.
module Serving
  INTERVAL = 0.1 # seconds until it looks whether it is to stop

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
