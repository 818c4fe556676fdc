# frozen_string_literal: true

module Soak
  # A server's memory, descriptors and threads over time, from outside.
  class Watch
    # at: seconds from the beginning; rss: kilobytes; answers: of honest clients so far.
    Sample = Struct.new(:at, :rss, :descriptors, :threads, :answers)

    WINDOWS = 8

    attr_reader :samples

    def initialize(tree)
      @tree = tree
      @began = Cuttle.now
      @samples = []
    end

    # Looks once.
    def look(answers = 0)
      at = Cuttle.now - @began
      @samples << Sample.new(at, @tree.rss, @tree.descriptors, @tree.threads.values.sum(&:size), answers)
      @samples.last
    end

    # Answers per second in the last third, as a share of those in the one before it; nil of too few looks.
    def pace
      before, late = [1 / 3r, 2 / 3r].map { |share| rate(samples.last.at * share, samples.last.at * (share + 1 / 3r)) }
      late / before if before&.positive? && late
    end

    # Kilobytes per minute by which the floor of RSS rises from +from+ (seconds) on: of the least in each of WINDOWS
    # parts of the time, the median of the slopes between any two (Theil and Sen). A heap swings by far more than a leak
    # adds in a minute; what a leak does is to lift the least. nil of too few looks.
    def slope(from)
      late = samples.select { |sample| sample.at >= from }
      return if late.size < 2 * WINDOWS

      floors = late.each_slice((late.size / WINDOWS.to_f).ceil).map { |part| part.min_by(&:rss) }
      slopes = floors.combination(2).map { |one, other| (other.rss - one.rss) / (other.at - one.at) * 60 }
      Bench::Results.median(slopes)
    end

    # Writes what was seen as lines of numbers.
    def save(path)
      File.write(path, [Sample.members, *samples.map(&:to_a)].map { |row| "#{row.join(",")}\n" }.join)
    end

    private

    # Answers per second between two times.
    def rate(from, to)
      first, *, last = samples.select { |sample| sample.at.between?(from, to) }
      (last.answers - first.answers) / (last.at - first.at) if last
    end
  end
end
