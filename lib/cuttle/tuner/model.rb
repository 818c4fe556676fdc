# frozen_string_literal: true

module Cuttle
  module Tuner
    # Predicts how a setting performs under a demand: rates by arithmetic (Network), response times by a simulation. It
    # measures nothing, and the same arguments give the same forecast. docs/tuning-model.md has the formulas, their
    # sources and the model's errors.
    #
    #   model = Model.new(profile)
    #   model.capacity(setting, cores: 4)                        # => [118.2, :gvl]
    #   model.forecast(setting, Demand.open(100.0), cores: 4)    # => a Forecast
    #
    # Any worker may take any request, as if each connection carried one request or a proxy distributed the requests.
    class Model
      autoload :Agenda, "cuttle/tuner/model/agenda"
      autoload :Corrections, "cuttle/tuner/model/corrections"
      autoload :Machine, "cuttle/tuner/model/machine"
      autoload :Network, "cuttle/tuner/model/network"
      autoload :Rules, "cuttle/tuner/model/rules"
      autoload :Simulation, "cuttle/tuner/model/simulation"
      autoload :Work, "cuttle/tuner/model/work"

      # Seconds for which a Ruby thread computes before it yields the GVL to another thread that wants it.
      QUANTUM = 0.1

      # Events of a simulation: it takes 0.1 to 0.2 s of CPU time.
      EVENTS = 100_000

      # The least number of counted responses in a simulation: 20 of them lie beyond p99.
      LEAST = 2000

      SEED = 17

      # The share of the time of the GVL, or of the cores, at which -t auto starts no more threads.
      ENOUGH = 0.97

      # base: the Setting that others are compared with, or nil (see Corrections). connections: the limit of database
      # connections, or nil (see Footprint). runs: a Hash that keeps the results of simulations by their inputs. Models
      # that share the Hash run no simulation twice.
      def initialize(profile, base: nil, connections: nil, runs: {})
        @profile = profile
        @limit = connections
        @corrections = Corrections.new(profile.corrections, base: base)
        @runs = runs
        @works = {}
        @stand_ins = {}
      end

      # A model of the same profile with other corrections: see Corrections.
      def corrected(list, base:)
        Model.new(@profile.with(corrections: list), base: base, connections: @limit, runs: @runs)
      end

      # [requests per second, what limits them]: the highest rate of a setting, with any number of connections. It is
      # computed by arithmetic, in about a millisecond. cores: the server's cores; nil: as many as the profile was made
      # with.
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
        figures = over ? overload(setting, capacity) : played(setting, demand, cores)
        capacity = [capacity, figures[:rate]].max
        Forecast.new(setting: setting, demand: demand, capacity: capacity, limit: limit(setting, demand, limit),
                     memory: footprint.memory(setting)&.round, beyond: cores > machine_cores,
                     connections: footprint.connections(setting), **figures)
      end

      private

      # The forecast for -t auto: that of its stand-in, except for the connections, because auto may start more threads
      # later.
      def of_auto(setting, demand, cores)
        stand_in = stand_in(setting, cores)
        told = forecast(stand_in, demand, cores: cores).to_h
        Forecast.new(**told, setting: setting, stand_in: stand_in, connections: footprint.connections(setting))
      end

      # The stand-in for -t auto: the fewest threads with which the GVL or the cores have hardly any time left, but at
      # least those that the server begins with. It starts another one only while requests wait and all threads are in
      # the app, so the stand-in does not depend on the rate. A setting with a number of threads is its own stand-in.
      def stand_in(setting, cores)
        return setting unless setting.auto?

        @stand_ins[[setting, cores]] ||= begin
          numbers = Engines::Auto.new(footprint.threads(setting))
          number = numbers.bsearch { |threads| network(setting.with_threads(threads), cores).use >= ENOUGH }
          setting.with_threads(number || numbers.last)
        end
      end

      # The number of the server's cores when the profile was made.
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
        Rules.of(setting, @profile.connections, ruby: @profile.ruby, slots: footprint.slots(setting))
      end

      def network(setting, cores)
        Network.new(work: work(setting), rules: rules(setting), machine: machine(cores),
                    contention: contention(setting))
      end

      def machine(cores)
        Machine.new(cores, @profile.scaling, @profile.sharing)
      end

      # Only threads contend for the GVL: a process with one thread has no such cost.
      def contention(setting)
        setting.traits.pooled? ? @profile.contention.to_f : 0.0
      end

      # The figures of an overloaded setting: waiting times are infinite. This method and the next one return figures of
      # a Forecast.
      def overload(setting, capacity)
        never = Float::INFINITY
        cpu = capacity / @corrections.rate_factor(setting.engine) * work(setting).cpu
        { rate: capacity, p50: never, p95: never, p99: never, queue_p99: never, cpu: cpu }
      end

      def played(setting, demand, cores)
        factor = demand.open? ? @corrections.rate_factor(setting.engine) : 1.0
        figures = simulated(setting, demand.open? ? Demand.open(demand.rate / factor) : demand, cores)
        factors = @corrections.factors(setting.engine, demand)
        factors[:rate] = factor if demand.open?
        figures = figures.to_h { |name, value| [name, value * factors.fetch(name, 1.0)] }
        # Each figure has its own factor, but a higher percentile is never below a lower one.
        figures[:p95] = figures.values_at(:p50, :p95).max
        figures[:p99] = figures.values_at(:p95, :p99).max
        figures[:rate] = [figures[:rate], demand.rate].min if demand.open?
        figures
      end

      # The same without corrections.
      def simulated(setting, demand, cores)
        @runs[[facts, setting, demand, cores]] ||= summary(simulate(setting, demand, cores))
      end

      # Everything in the profile that a simulation depends on.
      def facts
        @facts ||= [@profile.entries, @profile.overheads, @profile.scaling, @profile.sharing, @profile.contention,
                    @profile.connections, @profile.ruby, @limit]
      end

      # Figures of a Forecast.
      def summary(outcome)
        times = outcome.times.sort
        { rate: outcome.rate, p50: quantile(times, 0.5), p95: quantile(times, 0.95), p99: quantile(times, 0.99),
          queue_p99: quantile(outcome.queues.sort, 0.99), cpu: outcome.cpu }
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

      # A closed loop with fewer connections than the setting has slots may be limited by nothing but its connections.
      def limit(setting, demand, limit)
        return limit if demand.open? || limit != :slots || demand.connections >= rules(setting).places

        :demand
      end

      def footprint
        @footprint ||= Footprint.new(@profile, limit: @limit)
      end
    end
  end
end
