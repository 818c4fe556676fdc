# frozen_string_literal: true

require "etc"

module Runner
  # How many processes run tests at once: LEAST, and more while cores idle, because most tests wait. Other programs keep
  # cores busy as well, so on a busy machine it is LEAST, and also elsewhere than on Linux.
  class Crew
    LEAST = Integer(ENV.fetch("CUTTLE_PROCESSES") { Etc.nprocessors * 3 })
    MOST = ENV.key?("CUTTLE_PROCESSES") ? LEAST : LEAST * 4

    # Seconds between two looks at the cores.
    EVERY = 0.5

    # Shares of the cores' time: below the first there is room for more processes, above the second for one less.
    IDLE, BUSY = 0.95, 0.99

    # Parts of the report.
    PARTS = 20

    attr_reader :size

    # +times+: returns the cores' seconds since the boot as [busy, all] in any unit, or nil where nothing tells.
    def initialize(most: MOST, clock: Minitest.method(:clock_time), times: method(:times))
      @most = most
      @clock = clock
      @times = times
      @size = LEAST
      @looks = []
      look
    end

    # Adapts the size, if it is time.
    def adapt
      return if @clock.call - @looked < EVERY

      busy = look or return
      @size = (size + change(busy)).clamp(LEAST, @most)
      @looks << [busy, size]
    end

    # The run in up to PARTS parts: the busy share of the cores' time, and how many processes there were to be.
    def report
      return "too short for a look at the cores" if @looks.empty?

      looks = @looks.each_slice(@looks.length.fdiv(PARTS).ceil).map { |each| each.transpose.map { |all| mean(all) } }
      parts = looks.map { |busy, size| format("%d%% with %d", busy * 100, size.round) }
      "cores busy, with so many processes at once: #{parts.join(", ")}"
    end

    private

    # How many processes more there is room for: the more, the longer the cores idle.
    def change(busy)
      return busy > BUSY ? -1 : 0 unless busy < IDLE

      ((1 - (busy / IDLE)) * LEAST).ceil
    end

    # The busy share since the last look; nil at first.
    def look
      before, @seen, @looked = @seen, @times.call, @clock.call
      return unless before && @seen

      busy, all = @seen.zip(before).map { |late, early| late - early }
      busy.fdiv(all) if all.positive?
    end

    def mean(values) = values.sum.fdiv(values.length)

    # user, nice, system, idle, iowait, irq, softirq, steal
    def times
      ticks = File.open("/proc/stat", &:gets).split[1, 8].map(&:to_i)
      [ticks.sum - ticks[3] - ticks[4], ticks.sum]
    rescue SystemCallError
      nil
    end
  end
end
