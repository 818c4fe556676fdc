# frozen_string_literal: true

module Bench
  # A kind of trial with its further arguments, and a name by which a load refers to it.
  Trial = Struct.new(:name, :kind, :arguments) do
    def call(**parts)
      kind.new(*arguments, **parts)
    end
  end

  # A trial: the effect of a crowd of clients on the active clients of a server. The server is loaded without the crowd,
  # with it, and without it again, so that changes over time affect both sides. A subclass has
  #   among                       the figures of a phase with the crowd (see with_crowd), and further ones
  #   figures(among, rate, p99)   the run's figures in addition to the lab's; rate and p99 are those without the crowd
  # and may have
  #   earlier                     does what comes before these three phases, and returns the phases among it
  class Beside < Lab::Runner::Trial
    PATIENCE = 30 # seconds in which the server must release the crowd

    # crowd: SlowClients or SlowHttpTest.
    def initialize(crowd, **parts)
      super(**parts)
      @crowd = crowd
    end

    def run(configuration, route, **)
      prepare(configuration, route)
      catch(:interrupted) do
        early, phases = earlier, [phase(outer), among, phase(outer)]
        rate, p99 = %i[rate p99].map { |name| (phases.first[name] + phases.last[name]) / 2.0 }
        run = record(*phases.first.values_at(:result, :meter), nil)
        run.merge("rate" => rate, "ms" => run["ms"].merge("p99" => p99), "figures" => figures(phases[1], rate, p99),
                  "errors" => Results.sum([*early, *phases].map { |phase| phase[:result].errors }))
      end
    end

    private

    def earlier = []

    # Seconds of a phase without the crowd.
    def outer = @plan.duration

    # { result:, meter:, rate:, p99: (milliseconds), cpu: (microseconds per request) } of a load.
    def phase(seconds = @plan.duration, warm: true)
      warm_up if warm
      result, meter = measure(duration: seconds)
      throw :interrupted if result.interrupted?
      raise Lab::Failure, "nothing was answered" if result.responses.zero?

      p99 = (result.percentile(99) || result.latency.value_at(99)) / 1e6
      { result: result, meter: meter, rate: result.rate, p99: p99, cpu: meter.server["cpu_us"] }
    end

    # Yields while the crowd is connected. Afterwards, waits until the server has no more descriptors than before plus
    # those of the active clients, or until PATIENCE is over.
    def with_crowd(seconds = nil)
      raise Lab::Failure, @crowd.unavailable if @crowd.unavailable

      before = @server.tree.descriptors + @load.connections
      @crowd.open(@server.port, seconds: seconds)
      @server.tree.leave_out(@crowd.pid)
      yield
    ensure
      @crowd.close
      deadline = Cuttle.now + PATIENCE
      sleep 0.1 until before.nil? || @server.tree.descriptors <= before || Cuttle.now > deadline
    end
  end
end
