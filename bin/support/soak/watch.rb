# frozen_string_literal: true

module Soak
  # A server's memory, descriptors and threads over time, from outside.
  class Watch
    # at: seconds from the beginning; rss: kilobytes; answers: of honest clients so far.
    Sample = Struct.new(:at, :rss, :descriptors, :threads, :answers)

    attr_reader :samples

    def initialize(tree)
      @tree = tree
      @began = Bench::Clock.now
      @samples = []
    end

    # Looks once.
    def look(answers = 0)
      at = Bench::Clock.now - @began
      @samples << Sample.new(at, @tree.rss, @tree.descriptors, @tree.threads.values.sum(&:size), answers)
      @samples.last
    end

    # Answers per second in the last third, as a share of those in the one before it; nil of too few looks.
    def pace
      before, late = [1 / 3r, 2 / 3r].map { |share| rate(samples.last.at * share, samples.last.at * (share + 1 / 3r)) }
      late / before if before&.positive? && late
    end

    # Kilobytes of RSS per minute from +from+ (seconds) on: the median of the slopes between any two looks (Theil and
    # Sen), which a jump of the heap does not bend. nil of fewer than three looks.
    def slope(from)
      late = samples.select { |sample| sample.at >= from }
      return if late.size < 3

      slopes = late.combination(2).map { |one, other| (other.rss - one.rss) / (other.at - one.at) * 60 }
      Bench::Statistics.median(slopes)
    end

    private

    # Answers per second between two times.
    def rate(from, to)
      first, *, last = samples.select { |sample| sample.at.between?(from, to) }
      (last.answers - first.answers) / (last.at - first.at) if last
    end
  end
end
