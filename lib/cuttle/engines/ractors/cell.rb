# frozen_string_literal: true

require "socket"
require "cuttle/engines/hybrid"
require "cuttle/watchdog"

module Cuttle
  module Engines
    class Ractors
      # What one ractor runs. Ractors share this object, and it is frozen with all that it refers to.
      class Cell
        # The values that differ from one ractor to another.
        OWN = ["rack.errors"].freeze

        # Seconds between two checks whether only stuck requests are left.
        LOOK = 0.1

        # Loads and freezes what ractors will use. Raises UsageError.
        def self.prepare(source, service, threads, board)
          service.preload # a ractor that loads code waits for the main one
          env, options = source.options.fetch(:env), source.options.except(:env)
          Ractor.make_shareable(new(source.core, env.except(*OWN), options, service.share, threads, board))
        end

        def initialize(core, env, options, service, threads, board)
          @core = core
          @env = env
          @options = options
          @service = service
          @threads = threads
          @board = board
        end

        # Serves in the calling ractor until +stop+ is readable (an octet means: leave the backlog), and every request
        # is answered. Writes an octet to +stranded+ when only requests that are stuck in the app are left. +stop+,
        # +stranded+ and the +listeners+ are descriptors, which the ractor owns.
        def run(place, listeners, stop, stranded)
          stop, stranded = IO.for_fd(stop), IO.for_fd(stranded)
          listeners = listeners.map { |fd| Socket.for_fd(fd) }
          source = source(place, listeners)
          engine = Hybrid.new(source: source, service: @service.build, threads: @threads)
          watchdog = watch(source) if @options[:app_timeout]
          attendant = Thread.new { attend(source, engine, stop, stranded) }
          engine.run
        ensure
          engine&.stop # an app that ends this thread ends the ractor, once the others have answered
          attendant&.kill
          watchdog&.stop
          [stop, stranded, *(listeners unless source)].each(&:close) # a source closes its own
          @service.flush
        end

        private

        def source(place, listeners)
          env = @env.merge("rack.errors" => $stderr)
          @core::Poller.new(listeners, **@options, env: env, shared: true, steady: true, scoreboard: @board,
                                                   place: place, ledger: @options[:scoreboard], lane: place)
        end

        def attend(source, engine, stop, stranded)
          engine.stop(leave_backlog: !stop.read(1).nil?)
          return unless @options[:app_timeout]

          sleep LOOK until source.stranded?
          stranded.syswrite(".")
        end

        def watch(source)
          report = ->(text) { Cuttle.report(text) }
          Watchdog.new(source, limit: @options[:app_timeout], report: report).start
        end
      end
    end
  end
end
