# frozen_string_literal: true

module Cuttle
  module Lab
    class Runner
      # How far a lab is, on the screen: one line that is written over where a person looks, else a line for each start.
      # What is left is estimated from what the runs took so far.
      class Progress
        # total: runs; done: those that there are already.
        def initialize(out, total:, done: 0, clock: -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) })
          @out = out
          @total = total
          @done = done
          @skipped = done
          @clock = clock
          @terminal = out.respond_to?(:tty?) && out.tty?
          @began = clock.call
        end

        # A start of +configuration+ in +round+.
        def start(configuration, round)
          show("round #{round + 1}, #{configuration.name}", always: true)
        end

        # A run is done; +text+ says what came of it.
        def done(configuration, load, text)
          @done += 1
          show("#{configuration.name}, #{load.name}: #{text}")
        end

        # Something to be kept on the screen.
        def say(line)
          clear
          @out.puts line
        end

        def finish
          clear
        end

        # Seconds that what is left will take, or nil while nobody can tell.
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
