# frozen_string_literal: true

require "cuttle/lab/apps/work_app"
require "uri"

# The conditions in the archives of studies whose app's work is known, compared with the model's forecasts.
#
# A condition is a Cuttle server under one load of the work app. The work is in the load's path. The costs of a request
# besides it, CPU time and waiting, come from two conditions of the study, its calibration. Everything else is a
# forecast of the run as it was: the same total number of requests, from an idle server to the last answer.
module ArchivedConditions
  STUDIES = File.expand_path("../../../studies", __dir__)

  # A study whose app queries PostgreSQL, which its kept results don't say.
  UNKNOWN = %w[q6-database-limit].freeze

  # Runs of the simulation for each condition, with even requests and with uneven ones, whose means scatter.
  EVEN, UNEVEN = 5, 15

  # Share of its processes' computing power; above it, a condition does not show how long requests wait.
  BUSY = 0.8

  # A condition that is busy for this share of the time that the busiest is can show what requests cost as well.
  NEARLY = 0.95

  # The waiting that a calibration looks for, in seconds: at most, and how exactly.
  LONGEST = 0.008
  PRECISION = LONGEST / 1024
  TRIALS = 10 # at most; two or three are usual

  # Connections from which the server's own cost is most of what a waiting app costs.
  MANY = 500

  # The lab's name of an engine with threads auto.
  AUTO = %w[hybrid-auto].freeze

  FIGURES = %i[rate p50 p90 p95 p99].freeze

  # ruby: the server's version. measured: figure => median over the rounds; times in seconds, cpu for each response.
  Condition = Struct.new(:study, :setting, :demand, :requests, :work, :cores, :ruby, :measured, keyword_init: true) do
    def name
      "#{study}: #{setting.name}, #{demand.name}, #{numbers(work.cpu_ms, work.iowait_ms)} ms" \
        "#{", cv #{work.cv}" if work.cv.positive?}#{", #{work.slices} waits" if work.slices > 1}" \
        "#{", by the wall" if work.spin == "wall"}"
    end

    # The kinds of conditions, by what can be expected of a forecast:
    #   :known   all inputs of the model are known
    #   :wall    more processes than cores compute by the wall clock. The CPU time that this takes is an input as it was
    #            measured, because it depends on how they share the cores
    #   :many    so many connections that the server's cost counts, which falls to half of that of a single request
    #   :step    even requests that only wait, some of them first for a thread: they stay in step, and the median lies
    #            between those that waited for a thread and those that did not
    def kind
      return :wall if work.spin == "wall" && setting.processes > cores
      return :known unless work.cpu_ms.zero?
      return :many if demand.connections.to_i >= MANY

      in_step? ? :step : :known
    end

    # Share of what its processes can compute.
    def busy
      measured[:rate] * measured[:cpu] / [setting.processes, cores].min
    end

    private

    def in_step?
      !demand.open? && work.cv.zero? && setting.slots < demand.connections && demand.connections < 2 * setting.slots
    end

    def numbers(*values)
      values.map { |value| format("%g", value) }.join("/")
    end
  end

  # Seconds that a request takes beside the app's work: of CPU time in a busy process, of waiting, and of CPU time in a
  # process that sleeps until a single connection sends the next one.
  Calibration = Struct.new(:cpu, :wait, :alone) do
    def cpu_of(condition)
      condition.demand.connections == 1 ? alone : cpu
    end
  end

  # A condition with the model's figures.
  Row = Struct.new(:condition, :forecast) do
    # forecast / measured - 1, or nil where nothing was measured.
    def error(figure)
      measured = condition.measured[figure]
      (forecast[figure] / measured) - 1 if measured
    end
  end

  module_function

  # Rows of those of these studies with more than one such condition, without the conditions that calibrated them.
  def rows(names = studies)
    names.flat_map do |name|
      conditions = conditions(name)
      next [] if conditions.length < 2

      given, busy = calibrating(conditions)
      calibration = calibration(given, busy)
      (conditions - [given, busy]).map { |condition| Row.new(condition, forecast(condition, calibration)) }
    end
  end

  # Studies whose results are kept, and whose app can be known.
  def studies
    (Dir["*/results.jsonl", base: STUDIES].map { |path| File.dirname(path) } - UNKNOWN).sort
  end

  # Rows of a study's threads auto, with the number that the model takes them for. It is from a time when an app without
  # a pool had the limit of all others.
  def autos(name)
    calibration = calibration(*calibrating(conditions(name)))
    conditions(name, AUTO).map do |condition|
      condition.setting = Cuttle::Tuner::Setting.new(**condition.setting.to_h, max_threads: Cuttle::Engines::Auto::MOST)
      model = Cuttle::Tuner::Model.new(profile(condition, calibration))
      condition.setting = model.forecast(condition.setting, condition.demand, cores: condition.cores).stand_in
      Row.new(condition, forecast(condition, calibration))
    end
  end

  # Absolute errors of a figure, ascending.
  def errors(rows, figure)
    rows.filter_map { |row| row.error(figure)&.abs }.sort
  end

  def conditions(study, models = Cuttle::Engines.names)
    results = Cuttle::Lab::Results.read("#{STUDIES}/#{study}")
    return [] unless %w[work apps/scrawls.ru].include?(results.app["name"])

    results.configurations.product(results.loads).filter_map do |configuration, load|
      runs = results.runs(configuration: configuration, load: load).select(&:valid?)
      next unless runs.any? && models.include?(configuration.model) && suits?(configuration, load)

      condition(study, results, configuration, load, runs)
    end
  end

  # One of ours, with Ruby's own quantum, in a closed loop or with random arrivals; without a slow network and without
  # another load generator.
  def suits?(configuration, load)
    configuration.server == "cuttle" && !configuration.environment&.key?("RUBY_THREAD_TIMESLICE") &&
      load.tester.nil? && load.delay.nil? && (load.poisson || !load.open?)
  end

  def condition(study, results, configuration, load, runs)
    work = work(load.path) or return
    demand = load.open? ? Cuttle::Tuner::Demand.open(load.rate) : Cuttle::Tuner::Demand.closed(load.connections)
    Condition.new(study: study, setting: setting(configuration, load), demand: demand, requests: sent(load, runs),
                  work: work, cores: results.environment["server_cores"].length, ruby: configuration.ruby,
                  measured: measured(runs))
  end

  # Runs have more requests than their load if these would take too little time (Study::LEAST).
  def sent(load, runs)
    load.requests && Cuttle::Lab::Statistics.median(runs.map(&:sent)).round
  end

  # The work app's Parameters, if they ask for computing and waiting only; otherwise nil.
  def work(path)
    query = URI(path).query or return
    work = Cuttle::Lab::WorkApp::Parameters.new(URI.decode_www_form(query).to_h)
    known = [work.query, work.upstream].none? && (work.lock_ms + work.alloc_kb).zero?
    work if known && (work.cpu_ms + work.iowait_ms).positive?
  end

  # A thread for each connection.
  def setting(configuration, load)
    return Cuttle::Tuner::Verification.setting(configuration) if AUTO.include?(configuration.model)

    threads = configuration.threads.to_i.positive? ? configuration.threads.to_i : load.connections
    Cuttle::Tuner::Setting.new(engine: configuration.model, workers: configuration.workers, threads: threads)
  end

  def measured(runs)
    median = ->(values) { Cuttle::Lab::Statistics.median(values) }
    times = [50, 90, 95, 99].to_h do |percentile|
      found = Cuttle::Lab::Analysis::Table.percentile(runs, percentile)
      [:"p#{percentile}", found && (found.value / 1000)]
    end
    { rate: median[runs.map(&:rate)], cpu: median[runs.map { |run| run.server["cpu_us"] / 1e6 }], **times }
  end

  # [the condition that shows how long requests wait, the one that shows what they cost in a busy process, or nil]. The
  # first is the closed loop with the fewest connections, on the server with the fewest slots. The second is a closed
  # loop that keeps a single process busy, among those with fewer than MANY connections.
  def calibrating(conditions)
    closed = conditions.reject { |condition| condition.demand.open? }
    first = closed.min_by do |condition|
      setting = condition.setting
      [condition.busy > BUSY ? 1 : 0, condition.demand.connections, setting.slots, setting.processes]
    end
    [first, busy(closed)]
  end

  # Of a single process' conditions that are nearly as busy as the busiest, the one of median cost: the busiest of many
  # is one whose runs were faster by chance.
  def busy(closed)
    single = closed.select { |condition| condition.setting.processes == 1 && condition.demand.connections < MANY }
    busiest = single.map(&:busy).max
    nearly = single.select { |condition| condition.busy >= NEARLY * busiest }.sort_by { |condition| cost(condition) }
    nearly[nearly.length / 2]
  end

  # CPU time as it was measured in a busy process, as in a profile (Profiler::Costs#warmth). As much waiting as makes
  # the first condition's forecast rate the measured one, with the CPU time that was measured there. By Little's law, a
  # step is what requests take longer than forecast.
  def calibration(condition, busy)
    own = cost(condition)
    cpu = busy ? cost(busy) : own
    return Calibration.new(cpu, 0.0, own) if condition.busy > BUSY

    at_once = [condition.demand.connections, condition.setting.slots * condition.setting.processes].min
    wait = 0.0
    TRIALS.times do
      rate = forecast(condition, Calibration.new(own, wait, own))[:rate]
      missing = (at_once / condition.measured[:rate]) - (at_once / rate)
      before, wait = wait, (wait + missing).clamp(0.0, LONGEST)
      break if (wait - before).abs < PRECISION
    end
    Calibration.new(cpu, wait, own)
  end

  # CPU seconds of a request besides the app's; 0 if uneven requests were shorter than their mean by chance.
  def cost(condition)
    [condition.measured[:cpu] - (condition.work.cpu_ms / 1000), 0.0].max
  end

  def forecast(condition, calibration)
    profile = profile(condition, calibration)
    runs = condition.work.cv.zero? ? EVEN : UNEVEN
    outcomes = Array.new(runs) { |seed| play(condition, profile, Random.new(seed)) }
    times = outcomes.flat_map(&:times).sort
    percentiles = [50, 90, 95, 99].to_h { |each| [:"p#{each}", times[(times.length * each / 100.0).ceil - 1]] }
    { rate: outcomes.sum(&:rate) / runs, **percentiles }
  end

  def play(condition, profile, random)
    model = Cuttle::Tuner::Model
    simulation = model::Simulation.new(rules: model::Rules.of(condition.setting, ruby: condition.ruby),
                                       random: random, machine: model::Machine.new(condition.cores, nil),
                                       draws: model::Work.new(profile, condition.setting.engine).draws(random))
    simulation.run(condition.demand, count: condition.requests, last: condition.requests)
  end

  # The app multiplies computing and waiting by the same factor.
  def profile(condition, calibration)
    work, factors = condition.work, factors(condition.work.cv)
    entry = { name: "work", waits: work.iowait_ms.positive? ? work.slices : nil, correlation: 1.0,
              cpu: factors.map { |factor| computing(condition, calibration) * factor },
              wait: factors.map { |factor| (work.iowait_ms / 1000 * factor) + calibration.wait } }
    overheads = { condition.setting.engine => calibration.cpu_of(condition) }
    Cuttle::Tuner::Profile.new(entries: [entry], overheads: overheads)
  end

  # Seconds that the app computes; by the wall clock, as many as were measured.
  def computing(condition, calibration)
    return condition.work.cpu_ms / 1000 unless condition.kind == :wall

    [condition.measured[:cpu] - calibration.cpu_of(condition), 0.0].max
  end

  # 200 quantiles of the app's factor.
  def factors(variation)
    @factors ||= {}
    @factors[variation] ||= begin
      random = Random.new(1)
      drawn = Array.new(20_000) { Cuttle::Lab::WorkApp::Lognormal.draw(variation, random) }.sort
      mean = drawn.sum / drawn.length
      variation.zero? ? [1.0] : drawn.each_slice(100).map { |some| some.sum / some.length / mean }
    end
  end
end
