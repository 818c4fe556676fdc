# frozen_string_literal: true

module Cuttle
  module Load
    module Reports
      # The progress of a run: on a terminal, a line that is overwritten; elsewhere, one line per second. A percentile
      # of too few responses is a dash.
      class Panel
        CLEAR = "\r\e[K"

        # out: an IO. plan: the plan of the run.
        def initialize(out, plan)
          @out = out
          @plan = plan
          @live = out.respond_to?(:tty?) && out.tty?
          @window = nil
          @live_numbers = [0, 0, 0, 0, 0]
        end

        # Shows a complete second.
        def window(window)
          return if window.draining?

          @window = window
          @out.puts(line(window.to)) unless @live
        end

        # Draws the line, ten times a second. live: Run#live.
        def tick(elapsed, live)
          @live_numbers = live
          @out.print(CLEAR, line(elapsed - @plan.warmup)) if @live
        end

        # Clears the line for the report.
        def finish
          @out.print(CLEAR) if @live
        end

        private

        def line(elapsed)
          [clock(elapsed), *rates, *latencies, "errors #{Units.count(@live_numbers[2])}",
           "in flight #{Units.count(@live_numbers[4])}"].join("  ")
        end

        def clock(elapsed)
          return "warm-up #{format("%.1f", @plan.warmup + elapsed)} s" if elapsed.negative?

          "#{format("%5.1f", elapsed)}#{" of #{Units.duration(@plan.duration)}" if @plan.duration}"
        end

        def rates
          return ["-/s"] unless @window

          achieved = "#{Units.count(@window.rate)}/s"
          return [achieved] unless @plan.open?

          offered = @plan.schedule.offered(@window.to) - @plan.schedule.offered(@window.from)
          ["offered #{Units.count(offered / [@window.length, 1e-9].max)}/s", "achieved #{achieved}"]
        end

        def latencies
          return [] unless @window

          histogram = @window.histogram
          [50, 99].map do |percentile|
            time = Histograms.percentile(histogram, percentile)
            "p#{percentile} #{time ? Units.time(time) : "-"}"
          end
        end
      end
    end
  end
end
