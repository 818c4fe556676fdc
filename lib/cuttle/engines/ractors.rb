# frozen_string_literal: true

require "cuttle/engines/ractors/cell"

module Cuttle
  module Engines
    # Several ractors in one process, each with its own lock of the interpreter. Each does what hybrid does in a
    # process: it has its own poller, over duplicates of the listeners' descriptors, its own service, and its threads.
    # Ruby 4 or newer.
    #
    #   main ractor   prepares the app, starts the ractors, replaces one that dies
    #   ractor 1..N   Cell: hybrid, with a place in the scoreboard, which tells who should accept
    #
    # The app is frozen with all that it refers to, and ractors share it. A stop closes the listeners of the main ractor
    # first, so that the ractor that closes the last copy has emptied its backlog. The other ractors watch a pipe, and
    # learn of the stop when it ends. If they must leave the backlog, each reads an octet from the pipe first. Until a
    # ractor has read that, the scoreboard tells it to end connections. While the ractors serve, the engine passes
    # nothing else to them.
    class Ractors
      TRAITS = Traits.new(evented: true, pooled: true, ractors: true)

      # Seconds before a ractor that died is replaced, so that one that dies at once doesn't keep the process busy.
      PAUSE = 0.1

      # What #run needs of the listeners and of the options for pollers.
      Source = Struct.new(:listeners, :core, :options)

      # Why this Ruby can't run the engine; nil if it can.
      def self.unavailable
        return if defined?(::Ractor.shareable_proc)

        "needs Ruby 4.0 or newer; this is #{RUBY_ENGINE} #{RUBY_ENGINE_VERSION}"
      end

      def self.source(listeners, core:, **options)
        Source.new(listeners, core, options)
      end

      # +service+ is a Service::Recipe. Raises UsageError if the app can't be shared.
      def initialize(source:, service:, threads:, ractors:, **)
        @listeners = source.listeners
        @board = Ractor.make_shareable(source.core::Scoreboard.new(ractors))
        @cell = Cell.prepare(source, service, threads, @board)
        @places = ractors
        @process = Process.pid
        @asked, @ask = IO.pipe # to stop
        @stopped, @tell = IO.pipe
        @stranded_reader, @stranded_writer = IO.pipe
        @stranded = 0
        @stopping = false
      end

      def run
        @keepers = Array.new(@places) { |place| Thread.new { keep(place) } }
        @asked.wait_readable
        @listeners.each(&:close)
        tell_cells
        @keepers.each(&:join)
      ensure
        @keepers&.each(&:kill)
      end

      def stop(leave_backlog: false)
        return unless Process.pid == @process # a forked child has the same pipe

        @leave_backlog = leave_backlog unless @stopping
        @stopping = true
        @board.announce_stop
        @ask.write_nonblock(".", exception: false)
      end

      # After a stop: whether the only requests left are stuck in the app and have been answered.
      def stranded?
        said = @stranded_reader.read_nonblock(@places, exception: false)
        @stranded += said.bytesize if said.is_a?(String)
        @stranded.positive? && @keepers.count(&:alive?) <= @stranded
      end

      def stats
        @board.stats
      end

      private

      def tell_cells
        @tell.write("." * @places) if @leave_backlog
        @tell.close
      end

      # Keeps a place occupied until the stop, even if an app has ended its ractor before.
      def keep(place)
        until @stopping
          error = serve(place)
          @board.clear(place)
          report(error) unless @stopping
          @asked.wait_readable(PAUSE)
        end
      rescue IOError
        raise unless @stopping # the listeners are closed
      end

      # Returns when the ractor has ended, with the exception that ended it, if it was one.
      def serve(place)
        start(place)&.join
        nil
      rescue Ractor::RemoteError => error
        error.cause
      end

      # Starts a ractor, once the process has descriptors, memory and a thread for it. Returns nil if the stop is first.
      def start(place)
        cell(place)
      rescue SystemCallError, ThreadError => error
        told ||= Cuttle.report("can't start a ractor (#{error.message}): trying again") || true
        return if @asked.wait_readable(PAUSE)

        retry
      end

      # The ractor owns the copies of the descriptors.
      def cell(place)
        copies = []
        [@stopped, @stranded_writer, *@listeners].each { |io| copies << io.dup }
        stop, stranded, *listeners = copies.map(&:fileno)
        ractor = Ractor.new(@cell, place, listeners, stop, stranded) { |cell, *rest| cell.run(*rest) }
      ensure
        copies.each { |copy| ractor ? copy.autoclose = false : copy.close }
      end

      def report(error)
        Cuttle.report("a ractor has ended#{": #{error.message} (#{error.class})" if error}; starting another")
      end
    end
  end
end
