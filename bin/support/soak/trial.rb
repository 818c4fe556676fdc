# frozen_string_literal: true

module Soak
  # One engine's soak: a server, the crowds, what was seen, and the verdict.
  class Trial
    HONEST = 6
    VANDALS = 3
    LOOKS = 60 # over the run
    WARM_UP = 1 / 3r # share of the run in which memory may grow
    RSS_BOUND = 512 # kilobytes per minute after that
    LONG_ENOUGH = 120 # seconds, for a slope to be judged
    SPARE = 3 # descriptors and threads that a server may have beyond those it had at first
    SETTLE = 30 # seconds for it to be rid of those who left
    SHUTDOWN_TIMEOUT = 10 # seconds, the server's
    END_TIMEOUT = SHUTDOWN_TIMEOUT + 5
    DISTURBED = 0.1 # share of the server's core that others had
    TOLD = 5 # errors in full

    attr_reader :engine, :faults, :doubts

    def initialize(engine, seconds)
      @engine = engine
      @seconds = seconds
      @cores = Bench::Cores.new
      @faults = []
      @doubts = []
    end

    def passed?
      faults.empty?
    end

    def run
      prepare
      @server = Bench::Server.start(@recipe, @setup)
      @watch = Watch.new(@server.tree)
      soak
      settle
      finish
      judge
    ensure
      close
    end

    # Cells of the table.
    def row
      return [engine.name, *[""] * (HEADINGS.size - 2), "FAILED"] unless @ended

      slope = @watch.slope(@seconds * WARM_UP)
      [engine.name, answers.fdiv(@seconds).round, errors.size, @vandals.sum(&:deeds).fdiv(@seconds).round, *slow,
       range(:rss) { |kilobytes| (kilobytes / 1024.0).round(1) }, slope&.round, range(:descriptors), range(:threads),
       @ended.round(1), passed? ? "passed" : "FAILED"]
    end

    private

    def prepare
      @recipe = Bench::Cuttle.new("soak #{engine.name}", *engine.flags, "--request-timeout", "10",
                                  "--shutdown-timeout", SHUTDOWN_TIMEOUT.to_s, path: Bench.app("soak"))
      @recipe.prepare
      FileUtils.mkdir_p(Bench::LOGS)
      @setup = Bench::Server.setup(@recipe, @cores, Bench::LOGS)
      @cores.pin_self
    end

    def soak
      10.times { @server.get("/small") }
      @first = @watch.look
      begin_crowds
      before = [@server.tree.cpu_seconds, @cores.times(@cores.server)[:busy], @cores.times(@cores.server)[:steal]]
      observe
      after = [@server.tree.cpu_seconds, @cores.times(@cores.server)[:busy], @cores.times(@cores.server)[:steal]]
      cpu, busy, steal = after.zip(before).map { |late, early| late - early }
      @others = ([busy - cpu, 0].max + steal) / @seconds
    end

    def begin_crowds
      keeps = engine.name != "single"
      @honest = Array.new(HONEST) { |number| Honest.new(@server.port, number + 1, keeps: keeps) }
      @vandals = Array.new(VANDALS) { |number| Vandal.new(@server.port, number + 1) }
      @threads = (@honest + @vandals).map { |client| Thread.new { client.run } }
      return if engine.slow.zero?

      each = engine.slow / 3
      @slow = Bench::SlowClients.new("heads:#{each}", "bodies:#{each}", "readers:#{each}:/large")
      @slow.open(@server.port, @cores)
    end

    # Until the time is over, or the server, or a client of ours has died.
    def observe
      deadline = Bench::Clock.now + @seconds
      while Bench::Clock.now < deadline && @server.running?
        sleep([@seconds / LOOKS, deadline - Bench::Clock.now].min.clamp(0.05, 5))
        @watch.look(answers)
      end
      @faults << "the server ended: #{last_words}" unless @server.running?
      @held = @slow&.figures
    end

    # All clients go; the server is to be as it was.
    def settle
      (@honest + @vandals).each(&:stop)
      @threads.each(&:join) # raises what a client did not expect of itself
      @slow&.close
      return unless @server.running?

      @server.get("/settle")
      deadline = Bench::Clock.now + SETTLE
      loop do
        @last = @watch.look(answers)
        break if settled? || Bench::Clock.now > deadline

        sleep 0.2
      end
    end

    def settled?
      excess(:descriptors) <= SPARE && excess(:threads) <= SPARE
    end

    # A thread per connection that was is none that stays; a pool's are all there from the first look on.
    def excess(name)
      @last[name] - @first[name]
    end

    # Ends it, with kept connections and slow ones on it.
    def finish
      return @ended = 0.0 unless @server.running?

      kept = Array.new(3) { WireClient.new(@server.port).tap { |client| client.write("GET / HTTP/1.1\r\nHost: soak\r\n\r\n") } }
      slow = Bench::SlowClients.new("heads:10", "bodies:10").tap { |clients| clients.open(@server.port, @cores) } if @slow
      began = Bench::Clock.now
      Process.kill(:TERM, @server.tree.leader)
      sleep 0.02 until !@server.running? || Bench::Clock.now - began > END_TIMEOUT
      @ended = Bench::Clock.now - began
    ensure
      kept&.each(&:close)
      slow&.close
    end

    def judge
      judge_answers
      judge_growth if @last
      @faults << "did not end within #{END_TIMEOUT} s of TERM" if @server.running?
      @doubts << format("others had %.0f%% of the server's core", @others * 100) if @others > DISTURBED
    end

    def judge_answers
      return if errors.empty? && answers.positive?

      @faults << "honest clients saw #{errors.size} errors in #{answers + errors.size} requests"
      @faults.concat(errors.first(TOLD))
    end

    def judge_growth
      %i[descriptors threads].each do |name|
        @faults << "#{excess(name)} #{name} more than at first, #{SETTLE} s after all clients left" if excess(name) > SPARE
      end
      slope = @watch.slope(@seconds * WARM_UP) or return
      return if slope <= RSS_BOUND

      said = format("RSS grew by %.0f KB/min after the warm-up (at most %d)", slope, RSS_BOUND)
      @seconds >= LONG_ENOUGH ? @faults << said : @doubts << "#{said}, in a run too short to judge it"
    end

    def close
      (@honest.to_a + @vandals.to_a).each(&:stop)
      @slow&.close
      @server&.stop
    end

    def answers = @honest.to_a.sum(&:answers)
    def errors = @honest.to_a.flat_map(&:errors)
    def slow = @held ? @held.values_at(:slow_held, :slow_closed) : ["", ""]
    def last_words = Bench::Server.last_words(@server.output)

    # "first..most..last" of what was seen.
    def range(name)
      numbers = [@watch.samples.first, @watch.samples.max_by(&name), @watch.samples.last].map(&name)
      (block_given? ? numbers.map { |number| yield number } : numbers).join("..")
    end
  end
end
