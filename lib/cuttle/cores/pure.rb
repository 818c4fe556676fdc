# frozen_string_literal: true

require "io/wait"
require "socket"
require "stringio"

module Cuttle
  module Cores
    # The core in Ruby. It follows the native one in HTTP, limits and deadlines, and is much slower. One thread for each
    # Poller moves all octets; the engine's threads take complete requests from it.
    #
    #   Poller    many connections, driven by its thread       Acceptor    connections whose threads wait for them
    #   Wire      one connection: a state machine              Connection  a Wire and its thread
    #   Exchange  one request and its response, for engines    Body, Outbox, ResponseHead, Env: its parts
    module Pure
      class << self
        # There is no parser in this core.
        def parser(name)
          Http::Parsers.fetch(name)
        end

        # Nothing secures connections in this core.
        def tls = nil

        # Ruby has no call for it (see Native).
        def adopt_orphans = false

        # As adopt_orphans.
        def limit_arenas(_count) = false
        def trim_memory = false

        # See Native. A thread that writes to +stream+ at that moment gets an IOError, as Ruby has it.
        def redirect(stream, file)
          stream.reopen(file)
        end

        # Whether fibers wait for the calling thread's scheduler. JRuby has none.
        def scheduled?
          Fiber.respond_to?(:current_scheduler) && !Fiber.current_scheduler.nil?
        end

        # Runs the block under the lock, and to its end, whatever other threads raise in this one.
        def guard(lock, &block)
          Thread.handle_interrupt(Object => :never) { lock.synchronize(&block) }
        end
      end
    end
  end
end

# All at once: a process that has no descriptors left can load no file.
Cuttle::Http::Parsers.fetch("pure")
%w[limits meter ledgers effort reasons request_start address trust proxy_header forwarded spool body outbox
   response_head framing env composing responses exchange wire_input wire_output forks wire source watches selectors
   poller_thread poller acceptor connection beneath scoreboard
   hijacked].each { |file| require "cuttle/cores/pure/#{file}" }
