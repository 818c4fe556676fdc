# frozen_string_literal: true

module Soak
  # One engine's soak: a server, the crowds, and what was seen.
  class Trial
    HONEST = 6
    VANDALS = 3
    LOOKS = 120 # over the run
    WARM_UP = 1 / 3r # share of the run in which memory may grow
    SETTLE = 30 # seconds for it to be rid of those who left
    SHUTDOWN_TIMEOUT = 10 # seconds, the server's
    END_TIMEOUT = SHUTDOWN_TIMEOUT + 5

    attr_reader :engine

    # trim: whether malloc gives free pages back before each look, so that RSS tells of what is in use.
    def initialize(engine, seconds, trim: true)
      @engine = engine
      @seconds = seconds
      @rest = trim ? "/settle" : "/collect"
      @cores = Bench.cores
      @honest = @vandals = []
    end

    # Returns itself.
    def run
      prepare
      @server = Cuttle::Lab::Servers::Server.start(@peer, @setup)
      soak
      settle
      @ended = finish
      self
    ensure
      close
    end

    def verdict
      @verdict ||= Verdict.new(seen)
    end

    def seen
      Verdict::Seen.new(seconds: @seconds, first: @first, last: @last, slope: slope, pace: @pace, answers: answers,
                        errors: errors, ended: @ended, others: @others, death: @death)
    end

    # Cells of the table.
    def row
      held = @held || { slow_held: 0, slow_closed: 0 }
      [engine.name, answers.fdiv(@seconds).round, errors.size, @vandals.sum(&:deeds).fdiv(@seconds).round, *held.values,
       range(:rss) { |kilobytes| (kilobytes / 1024.0).round(1) }, slope&.round, range(:descriptors), range(:threads),
       @ended&.round(1), verdict.faults.empty? ? "passed" : "FAILED"]
    end

    private

    def prepare
      flags = [*engine.flags, "--request-timeout", "10", "--shutdown-timeout", SHUTDOWN_TIMEOUT.to_s]
      @peer = Bench::Checkout.new("soak-#{engine.name}", Bench::ROOT, flags)
      @setup = Bench.setup(@peer, @cores.server, app: Bench.app("soak"))
      @cores.pin_self
    end

    def soak
      10.times { @server.get("/small") }
      @watch = Watch.new(@server.tree)
      @first = @watch.look
      begin_crowds
      @others = share_of_others { observe }
      @pace = @watch.pace
      @held = @slow&.figures
    end

    def begin_crowds
      keeps = engine.name != "single"
      @honest = Array.new(HONEST) { |number| Honest.new(@server.port, number + 1, keeps: keeps) }
      @vandals = Array.new(VANDALS) { |number| Vandal.new(@server.port, number + 1) }
      @threads = (@honest + @vandals).map { |client| Thread.new { client.run } }
      each = engine.slow / 3
      @slow = slow_clients("heads:#{each}", "bodies:#{each}", "readers:#{each}:/large")
    end

    # Connected; nil for an engine that is not made to stand them.
    def slow_clients(*kinds)
      Bench::SlowClients.new(*kinds).tap { |clients| clients.open(@server.port) } if engine.slow.positive?
    end

    # Until the time is over, or the server is.
    def observe
      deadline = Cuttle.now + @seconds
      while Cuttle.now < deadline && @server.running?
        sleep((@seconds / LOOKS).clamp(0.05, 5))
        collect_garbage # so that RSS tells of what is kept
        @watch.look(answers)
      end
      @death = "the server ended; #{@setup.log} has its last words" unless @server.running?
    end

    # Of the server's core, while the block ran: other processes', and other machines'.
    def share_of_others
      before = busy
      yield
      cpu, all, steal = busy.zip(before).map { |late, early| late - early }
      ([all - cpu, 0].max + steal) / @seconds
    end

    def busy
      [@server.tree.cpu_seconds, *@cores.times(@cores.server).values_at(:busy, :steal)]
    end

    # All clients go; the server is to be as it was.
    def settle
      (@honest + @vandals).each(&:stop)
      @threads.each(&:join) # raises what a client did not expect of itself
      @slow&.close
      @death ||= "the server is there, but silent once all clients have left" unless collect_garbage
      deadline = Cuttle.now + SETTLE
      loop do
        @last = @watch.look(answers)
        break if Verdict.settled?(@first, @last) || Cuttle.now > deadline

        sleep 0.2
      end
    end

    # Whether the server could be had for it.
    def collect_garbage
      @server.get(@rest)
    rescue Cuttle::Lab::Failure
      false
    end

    # Ends it, with kept connections and slow ones on it. Returns the seconds it took, or nil where it went on.
    def finish
      return if @death

      kept = Array.new(3) { WireClient.new(@server.port).write("GET / HTTP/1.1\r\nHost: soak\r\n\r\n") }
      slow = slow_clients("heads:10", "bodies:10")
      began = Cuttle.now
      Process.kill(:TERM, @server.tree.leader)
      sleep 0.02 while @server.running? && Cuttle.now - began < END_TIMEOUT
      Cuttle.now - began unless @server.running?
    ensure
      kept&.each(&:close)
      slow&.close
    end

    def close
      @watch&.save(record)
      (@honest + @vandals).each(&:stop)
      @slow&.close
      @server&.stop
    end

    # Where what was seen over time is kept.
    def record = "#{@setup.log.delete_suffix(".log")}.csv"

    def slope = @watch.slope(@seconds * WARM_UP)
    def answers = @honest.sum(&:answers)
    def errors = @honest.flat_map(&:errors)

    # "first..most..last" of what was seen.
    def range(name)
      numbers = [@watch.samples.first, @watch.samples.max_by(&name), @watch.samples.last].map(&name)
      (block_given? ? numbers.map { |number| yield number } : numbers).join("..")
    end
  end
end
