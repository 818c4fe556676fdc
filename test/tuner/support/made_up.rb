# frozen_string_literal: true

# Profiles of apps that never ran, a model that needs no simulation, and a lab of settings that never ran.
module MadeUp
  Tuner = Cuttle::Tuner
  MACHINE = { "cores" => 2, "server_cores" => [0], "cpu" => "made up" }.freeze
  MEMORY = { "base" => 40e6, "worker" => 30e6, "thread" => 1e6 }.freeze

  # A request computes for cpu and waits for wait, each as seconds at quantiles.
  def profile(cpu: [0.003, 0.004, 0.005, 0.006, 0.008], wait: [0.01, 0.015, 0.02, 0.03, 0.05], **facts)
    entry = Tuner::Profile::Entry.new(name: "GET /", cpu: cpu, wait: wait)
    Tuner::Profile.new(entries: [entry], app: { "name" => "made up" }, environment: MACHINE, memory: MEMORY, boot: 0.5,
                       **facts)
  end

  def setting(engine = "hybrid", workers = 0, threads = nil)
    Tuner::Setting.new(engine: engine, workers: workers, threads: threads)
  end

  def auto(workers = 0, most = nil)
    Tuner::Setting.new(workers: workers, threads: "auto", max_threads: most)
  end

  def forecast(setting, capacity:, p95: 0.1, demand: Tuner::Demand.open(50.0), **figures)
    Tuner::Forecast.new(setting: setting, demand: demand, capacity: capacity.to_f, rate: 50.0, p50: p95 / 2, p95: p95,
                        p99: p95 * 1.5, queue_p99: p95 / 10, limit: :gvl, beyond: false, **figures)
  end

  def outcome(setting, **figures)
    Tuner::Outcome.predicted(forecast(setting, **figures), Tuner::Margin.new(profile))
  end

  # A model of arithmetic: each slot serves 10/s, each process 40/s at most, each core 50/s.
  class Plain
    AUTO = 4 # threads that keep a process busy, with auto

    attr_reader :asked

    def initialize(_profile = nil, base: nil)
      @asked = []
      @base = base
    end

    def capacity(setting, cores: nil)
      slots = setting.processes * (stand_in(setting).threads || (setting.engine == "fibers" ? 100 : 1))
      [[slots * 10.0, setting.processes * 40.0, (cores || 1) * 50.0].min, :slots]
    end

    def corrected(*) = self

    def stand_in(setting)
      setting.auto? ? setting.with_threads(AUTO) : setting
    end

    def forecast(setting, demand, cores: nil)
      @asked << setting
      capacity, limit = capacity(setting, cores: cores)
      used = demand.open? ? demand.rate / capacity : 1.0
      time = used < 1 ? 0.02 / (1 - used) : Float::INFINITY
      Cuttle::Tuner::Forecast.new(setting: setting, demand: demand, capacity: capacity, limit: limit, beyond: false,
                                  rate: [capacity, demand.rate || capacity].min, p50: time, p95: time * 2,
                                  p99: time * 3, queue_p99: time / 2, cpu: 0.5, memory: setting.processes * 30_000_000,
                                  connections: setting.processes * (setting.most_threads || 1),
                                  stand_in: (stand_in(setting) if setting.auto?))
    end
  end

  # The same for an app that waits a lot and has no database: each slot serves 4/s, each core 80/s. Threads auto are as
  # many as they may be, up to 20. Whatever keeps up is as quick.
  class Waiting < Plain
    def capacity(setting, cores: nil)
      [[setting.processes * (stand_in(setting).threads || 1) * 4.0, (cores || 1) * 80.0].min, :slots]
    end

    def stand_in(setting)
      setting.auto? ? setting.with_threads([setting.most_threads(connections: nil), 20].min) : setting
    end

    def forecast(...)
      told = super.to_h
      told.update(p50: 0.21, p95: 0.25, p99: 0.3, queue_p99: 0.01) unless told[:p50].infinite?
      Cuttle::Tuner::Forecast.new(**told, connections: nil)
    end
  end

  def waiting
    profile(cpu: 0.01, wait: 0.2)
  end

  # Results of a verification as the lab would have written them. settings: { Setting => [requests/s, p95 in ms] }.
  # rate: what the plain model searches at. slots: that keep the cores busy. invalid: { Setting => reason }, under both
  # loads; saturated: under the closed loop only.
  def verified(settings, rate: 35.0, rounds: 5, scatter: 0.01, invalid: {}, saturated: {}, slots: 8)
    header = lab_header(settings.keys, rate, rounds, slots)
    random = Random.new(3)
    records = settings.flat_map.with_index(1) do |(setting, (capacity, p95)), number|
      Array.new(rounds) do |round|
        noise = 1 + (scatter * (random.rand - 0.5))
        [made_run(number, "l1", round, capacity * noise, 100.0, saturated[setting] || invalid[setting]),
         made_run(number, "l2", round, rate, p95 * noise, invalid[setting])]
      end.flatten
    end
    finish = { "type" => "end", "interrupted" => false }
    results = Cuttle::Lab::Results.new(SyntheticLab::Lines.new(header, [*records, finish], []), "made-up/results.jsonl")
    Tuner::Verified.new(results)
  end

  private

  def lab_header(settings, rate, rounds, slots)
    tried = Tuner::Verification.new(settings, rate: rate, slots: slots)
    plan = tried.plan(1, tried.sized(rounds, 1.0))
    { "type" => "lab", "schema" => Cuttle::Lab::Results::SCHEMA, "id" => "made-up", "command" => %w[cuttle tune],
      "environment" => MACHINE, "fairness" => [], **plan.to_h }
  end

  def made_run(configuration, load, round, rate, p95, reason)
    { "type" => "run", "configuration" => "c#{configuration}", "load" => load, "block" => round, "order" => 0,
      "valid" => reason.nil?, "reasons" => [*reason], "boot" => 0.4, "proof" => [], "steady" => true, "rate" => rate,
      "responses" => 1000, "sent" => 1000, "elapsed" => 1.0, "errors" => {},
      "ms" => { "p50" => p95 / 2, "p95" => p95, "p99" => p95 * 1.4 }, "load_cpu" => 0.1,
      "server" => { "cpu_us" => 100.0, "switches" => 1.0, "pss" => [30_000_000], "pss_total" => 30_000_000 },
      "marks" => [], "windows" => [], "histogram" => nil, "warnings" => [] }
  end
end
