# frozen_string_literal: true

module Cuttle
  module Telemetry
    # Hands the measures of a server (see Metrics) to a block, again and again, for a plugin that sends them somewhere.
    # That happens in a thread of the supervisor, or of the only process; no request waits for it.
    class Reporter
      # Seconds between two reports.
      EVERY = 10

      # Seconds for the last report.
      PATIENCE = 5

      # The block gets the measures of now and those of the report before. Raises UsageError if +every+ is no time.
      def initialize(every, &send)
        raise UsageError, "every: #{every.inspect}: give seconds above 0" unless every.is_a?(Numeric) && every.positive?

        @every = every
        @send = send
        @lock = Mutex.new
      end

      # Begins to report on +process+ (see Plugin#start). The same error is reported once in a row.
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

      # A last report: the server stops, or restarts. It waits for it at most +patience+ seconds, because a receiver
      # that doesn't answer must not keep the server from that.
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
