# frozen_string_literal: true

module Cuttle
  module Telemetry
    # Passes the measures of a server (see Metrics) to a block at intervals, for a plugin that sends them somewhere. It
    # runs in a thread of the supervisor, or of the only process, so no request waits for it.
    class Reporter
      # Seconds between two reports.
      EVERY = 10

      # Seconds for the last report.
      PATIENCE = 5

      # The block gets the present measures and those of the previous report. Raises UsageError if +every+ is not a
      # time.
      def initialize(every, &send)
        raise UsageError, "every: #{every.inspect}: give seconds above 0" unless every.is_a?(Numeric) && every.positive?

        @every = every
        @send = send
        @lock = Mutex.new
      end

      # Begins to report on +process+ (see Plugin#start). An error that repeats is reported once.
      def start(process)
        Metrics.preload
        @process = process
        @before = process.measures
        Thread.new do
          loop do
            sleep @every
            attempt
          end
        end
      end

      # Sends a last report when the server stops or restarts. Waits at most +patience+ seconds, because a receiver that
      # doesn't answer must not delay that.
      def finish(patience = PATIENCE)
        return if @process.nil? || Thread.new { attempt }.join(patience)

        Cuttle.report("metrics: the last report was not sent within #{patience} s")
      end

      private

      def attempt
        @lock.synchronize do
          now = @process.measures
          @send.call(now, @before)
          @before = now
          @trouble = nil
        end
      rescue StandardError, ScriptError => error # a gem may load a file when it sends
        line = Error.line(error)
        Cuttle.report("metrics: #{line}") unless line == @trouble
        @trouble = line
      end
    end
  end
end
