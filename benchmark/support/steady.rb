# frozen_string_literal: true

module Bench
  # A trial: the rate once every connection is open and has had its first response. With thousands of connections to an
  # app that sleeps, the first second has few responses, and counts for much in a short run. It needs the windows of
  # `cuttle load`.
  class Steady < Lab::Runner::Trial
    # The first +seconds+ of the load don't count for the rate. (They do for the other figures.)
    def initialize(seconds, **parts)
      super(**parts)
      @seconds = seconds
    end

    def run(...)
      run = super or return
      windows = run["windows"].select { |window| window["from"] >= @seconds }
      raise Lab::Failure, "give more than #{@seconds} seconds" if windows.empty?

      times = windows.map { |window| window["to"] - window["from"] }
      run.merge("rate" => windows.zip(times).sum { |window, time| window["rate"] * time } / times.sum)
    end
  end
end
