# frozen_string_literal: true

module Cuttle
  # Reports requests that are stuck in the app (--app-timeout). Its thread waits until the source finds one, writes the
  # app's backtrace to +report+, and calls the block. By then the client has its 503, unless the app held the GVL. The
  # watchdog kills no thread, because nobody can undo what an app has half done.
  class Watchdog
    # +source+ is a Poller, +limit+ its limit in seconds. +report+ takes text for the operator.
    def initialize(source, limit:, report:, &found)
      @source = source
      @limit = limit
      @report = report
      @found = found
    end

    # Starts to watch. Returns self.
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

    # The reported time is the time that passed. It exceeds the limit if the GVL was not available.
    def description(thread, fiber, seconds, request)
      lines = fiber ? fiber.alive? && fiber.backtrace : thread.backtrace
      who = fiber ? "a fiber" : "thread #{thread.name || (thread == Thread.main ? "main" : thread.inspect)}"
      first = "#{request.inspect} has been stuck in the app for #{format("%.1f", seconds)} s " \
              "(--app-timeout #{@limit}) and was answered with 503; #{who} of process #{Process.pid} is at"
      [first, *lines].join("\n\t")
    end

    # If a report fails (because a log is full), the next one is still made.
    def attempt
      yield
    rescue StandardError
      nil
    end
  end
end
