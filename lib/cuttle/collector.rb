# frozen_string_literal: true

module Cuttle
  # Collects garbage between requests (--oob-gc, Ruby 3.4 or later): tells Ruby to make no major collection by itself,
  # and makes one when it is due and this process has no request in the app. In a cluster one worker at a time does so,
  # and leaves new connections to the others during that time. All this runs in a thread of its own.
  #
  #   watching --due--> waiting, aside if others are free --no request--> collecting --> watching
  #      |                 `--too long--> watching, for a while
  #      `--the heap has grown by MOST--> collecting
  class Collector
    # Seconds between two checks; between two checks for a moment without a request; until it stops waiting for that
    # moment; and until it tries again.
    EVERY = 0.1
    TICK = 0.005
    PATIENCE = 0.5
    PAUSE = 0.5

    # Octets by which the heap may grow after a major collection. Beyond that, the next collection does not wait for its
    # moment.
    MOST = 64 << 20

    # Why this Ruby can't do it; nil if it can.
    def self.missing
      return if GC.respond_to?(:config) && GC.config.key?(:rgengc_allow_full_mark)

      "this Ruby always chooses the moment itself: use 3.4 or later, with its default collector"
    end

    # A process that the app forks has no collector, so Ruby chooses the moment there.
    module Forks
      def _fork
        super.tap { |pid| Collector.let_ruby_choose if pid.zero? }
      end
    end

    # Lets Ruby make major collections by itself, as it does without a collector.
    def self.let_ruby_choose
      GC.config(rgengc_allow_full_mark: true)
    end

    # +source+ is the engine's, +scoreboard+ that of the workers, or nil. The block returns the stats of the engine.
    def initialize(source, scoreboard, &stats)
      @source = source
      @scoreboard = scoreboard
      @stats = stats
      @stop = Thread::Queue.new
      @count = 0
      @again = 0
    end

    # The major collections that it has made.
    attr_reader :count

    def start
      Process.singleton_class.prepend(Forks)
      @pages = pages
      GC.config(rgengc_allow_full_mark: false)
      @thread = Thread.new { watch }
      @thread.name = "cuttle collector"
      self
    end

    # Ruby chooses the moment itself again.
    def stop
      @stop.close
      @thread.join
      Collector.let_ruby_choose
    end

    private

    # An error ends this thread. Ruby then chooses the moment again; otherwise the heap would grow without limit.
    def watch
      look until stopped?(EVERY)
    rescue StandardError => error
      Cuttle.report("--oob-gc is off now, and Ruby chooses the moment again: #{Error.line(error)}")
    ensure
      Collector.let_ruby_choose
    end

    def stopped?(seconds)
      @stop.pop(timeout: seconds)
      @stop.closed?
    end

    def look
      return collect if grown >= MOST
      return unless due? && Cuttle.now >= @again

      in_turn { undisturbed? ? collect : put_off }
    end

    # Whether Ruby wants a major collection.
    def due? = !GC.latest_gc_info(:need_major_by).nil?

    # Octets that a major collection may reclaim, as far as Ruby knows: pages of the heap, and memory of old objects.
    def grown
      ((pages - @pages) * GC::INTERNAL_CONSTANTS[:HEAP_PAGE_SIZE]) + GC.stat(:oldmalloc_increase_bytes)
    end

    def pages = GC.stat(:heap_allocated_pages)

    # Another worker that has the turn will give it back in a moment.
    def in_turn
      return unless @scoreboard.nil? || @scoreboard.take_turn

      yield
    ensure
      @source.resume if aside?
      @scoreboard&.end_turn
    end

    # A worker waits for a moment without a request as long as others accept in its place. A single process continues to
    # accept while it waits.
    def undisturbed?
      deadline = Cuttle.now + PATIENCE
      loop do
        @source.rest if aside?
        return true if idle?
        return false if Cuttle.now >= deadline || stopped?(TICK)
      end
    end

    # Whether the source can leave connections to other workers.
    def aside? = @scoreboard && @source.respond_to?(:rest)

    def idle?
      stats = @stats.call
      stats.fetch(:busy).zero? && stats.fetch(:ready, 0).zero?
    end

    def put_off
      @again = Cuttle.now + PAUSE
    end

    # Objects become old only while Ruby may mark them all.
    def collect
      Collector.let_ruby_choose
      GC.start
      GC.config(rgengc_allow_full_mark: false)
      @pages = pages
      @count += 1
    end
  end
end
