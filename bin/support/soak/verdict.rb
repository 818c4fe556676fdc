# frozen_string_literal: true

module Soak
  # What is said of a soak: faults, for which it has failed, and doubts.
  class Verdict
    RSS_BOUND = 1024 # kilobytes per minute after the warm-up
    LONG_ENOUGH = 300 # seconds, for a slope to be judged
    SPARE = { descriptors: 3, threads: 3 }.freeze # that a server may have beyond those it had at first
    DISTURBED = 0.1 # share of the server's core that others had
    SLOWER = 0.7 # answers per second in the last third beside those in the one before
    TOLD = 5 # errors in full

    # seconds: of the run; first, last: Watch::Samples before the crowds came and after they went; slope: of RSS,
    # kilobytes per minute, or nil; pace: Watch#pace; answers, errors: of honest clients; ended: seconds from TERM to
    # the end, nil where it did not end; others: share of the server's core; death: a line, where the server ended by
    # itself or is dead to the world, or nil.
    Seen = Struct.new(:seconds, :first, :last, :slope, :pace, :answers, :errors, :ended, :others, :death,
                      keyword_init: true)

    # How many more there are than at first, within what is spared.
    def self.settled?(first, last)
      SPARE.all? { |name, spare| last[name] - first[name] <= spare }
    end

    def initialize(seen)
      @seen = seen
    end

    def faults
      endless = "did not end in time at TERM" unless @seen.ended || @seen.death
      [@seen.death, *answers, *left, (growth if judged?), endless].compact
    end

    def doubts
      others = format("others had %.0f%% of the server's core", @seen.others * 100) if @seen.others > DISTURBED
      [("#{growth}, in a run too short to judge it" if growth && !judged?), slower, others].compact
    end

    private

    def answers
      return [] if @seen.errors.empty? && @seen.answers.positive?

      requests = @seen.answers + @seen.errors.size
      ["honest clients saw #{@seen.errors.size} errors in #{requests} requests", *@seen.errors.first(TOLD)]
    end

    def left
      SPARE.filter_map do |name, spare|
        more = @seen.last[name] - @seen.first[name]
        "#{more} #{name} more than at first, after all clients left" if more > spare
      end
    end

    def growth
      return unless @seen.slope&.> RSS_BOUND

      format("RSS grew by %.0f KB/min after the warm-up (at most %d)", @seen.slope, RSS_BOUND)
    end

    def slower
      return unless @seen.pace&.< SLOWER

      format("in its last third it answered %.0f%% as fast as in the one before", @seen.pace * 100)
    end

    def judged?
      @seen.seconds >= LONG_ENOUGH
    end
  end
end
