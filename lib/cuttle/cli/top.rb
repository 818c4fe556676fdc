# frozen_string_literal: true

require "json"
require "optparse"
require "cuttle/cli/running_server"

module Cuttle
  class CLI
    # `cuttle top`: a running server's workers, rate, latencies and memory, live in a terminal. If the output is not a
    # terminal, it prints one line per second. It asks the control listener. Exit status 0: ended by q or Ctrl-C; 1:
    # the server does not run, or has no control listener.
    class Top
      # Seconds between two updates.
      INTERVAL = 1

      def initialize(out:, err:)
        @out = out
        @err = err
        @running = RunningServer.new
        @interval = INTERVAL
      end

      # Returns the exit status. Raises UsageError and Error.
      def run(arguments)
        extra = CLI.parse(options, arguments)
        raise UsageError, "top takes options only, not #{extra.join(" ")}" if extra.any?

        before = look
        return once(before) if @once

        @out.respond_to?(:tty?) && @out.tty? ? live(before) : plain(before)
        0
      rescue Interrupt
        0
      end

      private

      # What the server says now. The server is found each time, because a restart may change its listener.
      def look
        server = @running.find or raise Error, @running.missing
        unless server.is_a?(Control::Client)
          raise Error, "top needs a control listener: serve with --control-url" # a process has signals only
        end

        Sample.new(JSON.parse(server.call("top")))
      rescue JSON::ParserError
        raise Error, "#{server} is not a control listener of this version"
      end

      def once(before)
        sleep @interval
        view = View.new(look, before)
        @out.puts view.lines(width: View::WIDEST)
        0
      end

      # Prints a line for each update. An error is printed once.
      def plain(before)
        @out.sync = true if @out.respond_to?(:sync=)
        trouble = nil
        loop do
          sleep @interval
          before, trouble = again(before, trouble) { |view| @out.puts "#{Time.now.strftime("%T")}  #{view.summary}" }
        end
      end

      # Yields a View of a new sample. Returns the sample to compare the next one with, and the error, or nil.
      def again(before, trouble)
        now = look
        yield View.new(now, before)
        [now, nil]
      rescue Error => error
        @err.puts "cuttle: #{error.message}" unless error.message == trouble
        [before, error.message]
      end

      def live(before)
        Screen.open(@out) do |screen|
          now = before
          trouble = nil
          loop do
            screen.draw { |width, height| View.new(now, before, trouble: trouble).lines(width: width, height: height) }
            case screen.wait(@interval)
            when :quit then break
            when :time then before, now, trouble = forward(before, now)
            end
          end
        end
      end

      # The next two samples. While the server does not answer, the samples that were drawn last stay.
      def forward(before, now)
        [now, look, nil]
      rescue Error => error
        [before, now, error.message]
      end

      def options
        OptionParser.new do |options|
          options.banner = "Usage: cuttle top [OPTION …]"
          options.separator "Shows a running server, live; q or Ctrl-C quits. The server needs --control-url."
          options.separator "If the output is not a terminal, it prints one line per second."
          @running.add(options)
          options.separator "\nOther:"
          options.on("--interval S", Float, "seconds between two updates (#{INTERVAL})") { |s| @interval = interval(s) }
          options.on("--once", "observe one interval, print, and exit") { @once = true }
          CLI.tell_version_and_help(options, short: %w[-V])
        end
      end

      def interval(seconds)
        seconds >= 0.1 && seconds.finite? ? seconds : raise(UsageError, "--interval #{seconds}: give at least 0.1")
      end
    end
  end
end

require "cuttle/cli/top/sample"
require "cuttle/cli/top/screen"
require "cuttle/cli/top/view"
