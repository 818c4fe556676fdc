# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # Shows the progress of a lab: on a terminal, one line that is overwritten; otherwise, a line for each start. The
      # remaining time is estimated from the runs so far.
      class Progress
        attr_writer :total

        # total: number of runs. done: number of runs that exist already.
        def initialize(out, total:, done: 0, clock: Cuttle.method(:now))
          @out = out
          @total = total
          @done = done
          @skipped = done
          @clock = clock
          @terminal = out.respond_to?(:tty?) && out.tty?
          @began = clock.call
        end

        # The number of finished runs.
        def runs
          @done
        end

        # Shows a start of +configuration+ in +round+.
        def start(configuration, round)
          show("round #{round + 1}, #{configuration.name}", always: true)
        end

        # Counts a finished run. +text+ is its outcome.
        def done(configuration, load, text)
          @done += 1
          @total = [@total, @done].max
          show("#{configuration.name}, #{load.name}: #{text}")
        end

        # Takes back that many runs of the results, because they are measured again.
        def again(runs)
          @done -= runs
          @skipped -= runs
        end

        # Prints a line that stays on the screen.
        def say(line)
          clear
          @out.puts line
        end

        def finish
          clear
        end

        # Seconds left, or nil before the first run.
        def left
          made = @done - @skipped
          (@clock.call - @began) / made * (@total - @done) if made.positive?
        end

        private

        def show(text, always: false)
          line = "#{@done}/#{@total}  #{text}#{"  (#{remaining} left)" if left}"
          return print_over(line) if @terminal

          @out.puts line if always
        end

        def remaining
          seconds = left
          seconds < 90 ? "about #{seconds.ceil} s" : "about #{(seconds / 60).ceil} min"
        end

        def print_over(line)
          @out.print "\r\e[K#{line}"
          @out.flush
        end

        def clear
          @out.print "\r\e[K" if @terminal
        end
      end
    end
  end
end
