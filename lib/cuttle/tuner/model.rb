# frozen_string_literal: true

module Cuttle
  module Tuner
    # What a profile makes of a setting under a demand: rates by arithmetic (Network), response times by a simulation.
    # It measures nothing, and the same arguments give the same forecast. docs/tuning-model.md has the formulas, their
    # sources, and how far the model was off.
    #
    #   model = Model.new(profile)
    #   model.capacity(setting, cores: 4)                        # => [118.2, :gvl]
    #   model.forecast(setting, Demand.open(100.0), cores: 4)    # => a Forecast
    #
    # Any worker may take any request, as when each connection carries one request or a proxy shares them out.
    class Model
      autoload :Agenda, "cuttle/tuner/model/agenda"
      autoload :Corrections, "cuttle/tuner/model/corrections"
      autoload :Machine, "cuttle/tuner/model/machine"
      autoload :Network, "cuttle/tuner/model/network"
      autoload :Rules, "cuttle/tuner/model/rules"
      autoload :Simulation, "cuttle/tuner/model/simulation"
      autoload :Work, "cuttle/tuner/model/work"

      # Seconds that a thread of Ruby computes before it gives the GVL to another that wants it.
      QUANTUM = 0.1

      # Events of a simulation: it takes 0.1 to 0.2 s of CPU time.
      EVENTS = 100_000

      # Counted responses of a simulation, at least: 20 of them lie beyond p99.
      LEAST = 2000

      SEED = 17

      # Share of the GVL's time, and of the cores', at which -t auto starts no more threads.
      ENOUGH = 0.97

      # base: the Setting that others are compared with, or nil (see Corrections). runs: a Hash of what simulations have
      # shown, by what they follow from; models that share it don't make them again.
      def initialize(profile, base: nil, runs: {})
        @profile = profile
        @corrections = Corrections.new(profile.corrections, base: base)
        @runs = runs
        @works = {}
        @stand_ins = {}
      end

      # [requests per second, what limits them]: the highest rate of a setting, with as many connections as it likes.
      # By arithmetic, in about a millisecond. cores: for the server; nil: as many as it had for the profile.
      def capacity(setting, cores: nil)
        cores ||= home
        rate, limit = network(stand_in(setting, cores), cores).capacity
        [rate * @corrections.capacity_factor(setting.engine), limit]
      end

      # The Forecast. It takes about 0.2 s.
      def forecast(setting, demand, cores: nil)
        cores ||= home
        return of_auto(setting, demand, cores) if setting.auto?

        capacity, limit = capacity(setting, cores: cores)
        over = demand.open? && demand.rate >= capacity
        figures, inside = over ? overload(setting, capacity) : played(setting, demand, cores)
        capacity = [capacity, figures[:rate]].max
        Forecast.new(setting: setting, demand: demand, capacity: capacity, limit: limit(setting, demand, limit),
                     memory: memory(setting), connections: connections(setting, inside), beyond: cores > machine_cores,
                     **figures)
      end

      private

      # As with the number of threads that it comes to, but for connections: it may get more threads some day.
      def of_auto(setting, demand, cores)
        stand_in = stand_in(setting, cores)
        told = forecast(stand_in, demand, cores: cores).to_h
        Forecast.new(**told, setting: setting, stand_in: stand_in, connections: connections(setting))
      end

      # What threads auto come to: the fewest that leave the GVL, or the cores, next to nothing to do. It adds threads
      # only while requests wait and all threads are in the app, so this does not depend on the rate. A setting with a
      # number of threads is its own.
      def stand_in(setting, cores)
        return setting unless setting.auto?

        @stand_ins[[setting, cores]] ||= begin
          numbers = 1..setting.most_threads
          number = numbers.bsearch { |threads| network(setting.with_threads(threads), cores).use >= ENOUGH }
          setting.with_threads(number || numbers.last)
        end
      end

      # Cores of the server when the profile was made.
      def home
        @profile.environment&.fetch("server_cores", nil)&.length || machine_cores
      end

      def machine_cores
        @profile.environment&.fetch("cores", nil) || 1
      end

      def work(setting)
        @works[setting.engine] ||= Work.new(@profile, setting.engine)
      end

      def rules(setting)
        Rules.of(setting, @profile.connections)
      end

      def network(setting, cores)
        Network.new(work: work(setting), rules: rules(setting), machine: machine(cores),
                    contention: contention(setting))
      end

      def machine(cores)
        Machine.new(cores, @profile.scaling)
      end

      # The price of the GVL is one of threads: a process with one thread does not pay it.
      def contention(setting)
        setting.traits.pooled? ? @profile.contention.to_f : 0.0
      end

      # What comes faster than it can be served waits without end. These two return figures of a Forecast, and the
      # largest number of requests that a process has in the app at once.
      def overload(setting, capacity)
        never = Float::INFINITY
        [{ rate: capacity, p50: never, p95: never, p99: never, queue_p99: never, cpu: capacity * work(setting).cpu },
         rules(setting).slots]
      end

      def played(setting, demand, cores)
        figures, inside = @runs[[facts, setting, demand, cores]] ||= summary(simulate(setting, demand, cores))
        factors = @corrections.factors(setting.engine, demand)
        factors[:rate] = 1.0 if demand.open?
        figures = figures.to_h { |name, value| [name, value * factors.fetch(name, 1.0)] }
        # Each figure has its own factor, but a higher percentile is never shorter.
        figures[:p95] = figures.values_at(:p50, :p95).max
        figures[:p99] = figures.values_at(:p95, :p99).max
        figures[:rate] = [figures[:rate], demand.rate].min if demand.open?
        [figures, inside]
      end

      # All of the profile that a simulation follows from.
      def facts
        @facts ||= [@profile.entries, @profile.overheads, @profile.scaling, @profile.contention, @profile.connections]
      end

      # [figures of a Forecast, the largest number of requests that a process had in the app at once]
      def summary(outcome)
        times = outcome.times.sort
        [{ rate: outcome.rate, p50: quantile(times, 0.5), p95: quantile(times, 0.95), p99: quantile(times, 0.99),
           queue_p99: quantile(outcome.queues.sort, 0.99), cpu: outcome.cpu }, outcome.most]
      end

      def simulate(setting, demand, cores)
        random = Random.new(SEED)
        work = work(setting)
        requests = [(EVENTS / (4 + (2 * work.waits))).round, LEAST].max
        simulation = Simulation.new(rules: rules(setting), machine: machine(cores), draws: work.draws(random),
                                    random: random, contention: contention(setting))
        simulation.run(demand, count: requests, skip: (requests / 10) + (3 * (demand.connections || 0)))
      end

      def quantile(sorted, share)
        sorted[[(sorted.length * share).ceil - 1, 0].max]
      end

      # A closed loop with fewer connections than the setting has slots may have nothing else that limits it.
      def limit(setting, demand, limit)
        return limit if demand.open? || limit != :slots || demand.connections >= rules(setting).places

        :demand
      end

      def memory(setting)
        Footprint.new(@profile).memory(setting)&.round
      end

      # Threads keep their connections; fibers need one for each request that is in the app.
      def connections(setting, inside = nil)
        held = @profile.connections or return
        (setting.processes * (held["process"].to_f + (held["thread"].to_f * (setting.most_threads || inside)))).ceil
      end
    end
  end
end
