# frozen_string_literal: true

module Cuttle
  # Tells of requests that are stuck in the app (--app-timeout): a thread that waits for the source to find one, writes
  # where the app is to +report+, and calls the block. By then the client has its 503, unless the app held the GVL; and
  # nobody is killed, for what an app has half done nobody can undo.
  class Watchdog
    # +source+ is a Poller; +limit+ the seconds it was given, +report+ takes text for the operator.
    def initialize(source, limit:, report:, &found)
      @source = source
      @limit = limit
      @report = report
      @found = found
    end

    # Begins to watch; returns self.
    def start
      @thread = Thread.new { watch }
      @thread.name = "cuttle watchdog"
      self
    end

    def stop
      @thread.kill.join
    end

    private

    def watch
      loop do
        stuck = @source.stuck
        attempt { @report.call(description(*stuck)) }
        attempt { @found&.call }
      end
    end

    # The time is what has passed, which is more than the limit where the GVL could not be had.
    def description(thread, fiber, seconds, request)
      lines = fiber ? fiber.alive? && fiber.backtrace : thread.backtrace
      who = fiber ? "a fiber" : "thread #{thread.name || (thread == Thread.main ? "main" : thread.inspect)}"
      first = "#{request.inspect} has been stuck in the app for #{format("%.1f", seconds)} s (--app-timeout #{@limit}) " \
              "and was answered with 503; #{who} of process #{Process.pid} is at"
      [first, *lines].join("\n\t")
    end

    # Whatever fails (a log that is full), the next one is told of.
    def attempt
      yield
    rescue StandardError
      nil
    end
  end
end
