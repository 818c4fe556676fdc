# frozen_string_literal: true

require "cuttle/lab/apps/work_app"
require "uri"

# The measurements of kept studies whose app's work is known, and what the model makes of them.
#
# A cell is a server of ours under one load of the work app. The work is in the load's path; what the server and the
# machine add to it, CPU time and waiting, comes from one cell of the study (its calibration). All others are forecasts.
module KeptCells
  STUDIES = File.expand_path("../../../studies", __dir__)

  # Runs of the simulation for each cell; each sends as many requests as the load generator sent.
  RUNS = 5

  # measured: figure => median over the rounds; times in seconds.
  Cell = Struct.new(:study, :id, :setting, :demand, :requests, :work, :cores, :measured, keyword_init: true) do
    def name
      "#{study}: #{setting.name}, #{demand.name}, #{work.cpu_ms.round(2)}/#{work.iowait_ms.round(2)} ms" \
        "#{", cv #{work.cv}" if work.cv.positive?}#{", #{work.slices} waits" if work.slices > 1}" \
        "#{", by the wall" if by_the_wall?}"
    end

    # Whether the app computes until the clock on the wall says so. Such a process doesn't notice that it has lost its
    # core, as if there were enough.
    def by_the_wall?
      work.spin == "wall"
    end

    # Requests that are under way at once, on average at most.
    def population
      [demand.connections || Float::INFINITY, setting.processes * setting.slots].min
    end
  end

  # What a study's calibration tells: seconds that a request costs and waits beside the app's work.
  Calibration = Struct.new(:cpu, :wait)

  # A cell with the model's figures, and their errors: forecast / measured - 1, nil where nothing was measured.
  Row = Struct.new(:cell, :forecast) do
    def error(figure)
      measured = cell.measured[figure]
      (forecast[figure] / measured) - 1 if measured && forecast[figure]
    end
  end

  module_function

  # Rows of all studies, but for the cells that calibrated them.
  def rows(names = studies)
    names.flat_map do |name|
      cells = cells(name)
      given = calibrating(cells)
      calibration = calibration(given)
      (cells - [given]).map { |cell| Row.new(cell, forecast(cell, calibration)) }
    end
  end

  # Studies with such cells.
  def studies
    Dir["*/results.jsonl", base: STUDIES].map { |path| File.dirname(path) }.sort.select { |name| cells(name).any? }
  end

  def cells(study)
    results = Cuttle::Lab::Results.read("#{STUDIES}/#{study}")
    return [] unless results.app["name"].match?(/\A(work|apps\/scrawls\.ru)\z/)

    results.configurations.product(results.loads).filter_map do |configuration, load|
      runs = results.runs(configuration: configuration, load: load).select(&:valid?)
      cell(study, results, configuration, load, runs) if runs.any? && suits?(configuration, load)
    end
  end

  # A Cuttle, without a slow network and without another load generator.
  def suits?(configuration, load)
    configuration.server == "cuttle" && load.tester.nil? && load.delay.nil?
  end

  def cell(study, results, configuration, load, runs)
    work = work(load.path) or return
    demand = load.open? ? Cuttle::Tuner::Demand.open(load.rate) : Cuttle::Tuner::Demand.closed(load.connections)
    return if load.open? && !load.poisson

    Cell.new(study: study, id: [configuration.id, load.id], setting: setting(configuration, load), demand: demand,
             requests: load.requests, work: work, cores: results.environment["server_cores"].length,
             measured: measured(runs))
  end

  # The work app's Parameters, if only computing and waiting are asked for; otherwise nil.
  def work(path)
    query = URI(path).query or return
    work = Cuttle::Lab::WorkApp::Parameters.new(URI.decode_www_form(query).to_h)
    known = [work.query, work.upstream].none? && (work.lock_ms + work.alloc_kb).zero?
    work if known && (work.cpu_ms + work.iowait_ms).positive?
  rescue Cuttle::Lab::WorkApp::Invalid
    nil
  end

  # A thread for each connection: as many threads as there are connections.
  def setting(configuration, load)
    threads = configuration.threads.to_i.positive? ? configuration.threads.to_i : load.connections
    Cuttle::Tuner::Setting.new(engine: configuration.model, workers: configuration.workers, threads: threads)
  end

  def measured(runs)
    median = ->(values) { values.any? && values.none?(&:nil?) ? Cuttle::Lab::Statistics.median(values) : nil }
    times = [50, 90, 95, 99].to_h do |percentile|
      found = Cuttle::Lab::Analysis::Table.percentile(runs, percentile)
      [:"p#{percentile}", found && found.value / 1000]
    end
    { rate: median[runs.map(&:rate)], cpu: median[runs.map { |run| run.server["cpu_us"] }] / 1e6, **times }
  end

  # The one with the fewest connections, which queues the least.
  def calibrating(cells)
    cells.reject { |cell| cell.demand.open? }.min_by { |cell| [cell.demand.connections, cell.setting.processes] }
  end

  def calibration(cell)
    cycle = cell.population / cell.measured[:rate]
    Calibration.new(cell.measured[:cpu] - (cell.work.cpu_ms / 1000),
                    cycle - cell.measured[:cpu] - (cell.work.iowait_ms / 1000))
  end

  # Rate and percentiles of as many requests as were sent, begun and ended as the load generator did.
  def forecast(cell, calibration)
    profile = profile(cell, calibration)
    outcomes = Array.new(RUNS) { |seed| play(cell, profile, Random.new(seed)) }
    times = outcomes.flat_map(&:times).sort
    { rate: outcomes.sum(&:rate) / RUNS, **[50, 90, 95, 99].to_h { |percentile|
      [:"p#{percentile}", times[[(times.length * percentile / 100.0).ceil, 1].max - 1]]
    } }
  end

  def play(cell, profile, random)
    model = Cuttle::Tuner::Model
    cores = cell.by_the_wall? ? [cell.cores, cell.setting.processes].max : cell.cores
    simulation = model::Simulation.new(rules: model::Rules.of(cell.setting), machine: model::Machine.new(cores, nil),
                                       draws: model::Work.new(profile, cell.setting.engine).draws(random),
                                       random: random)
    simulation.run(cell.demand, count: cell.requests, last: cell.requests)
  end

  # The work as a Profile; uneven times have the app's lognormal factor.
  def profile(cell, calibration)
    factors = factors(cell.work.cv)
    entry = { name: "work", cpu: factors.map { |factor| cell.work.cpu_ms / 1000 * factor },
              wait: factors.map { |factor| (cell.work.iowait_ms / 1000 * factor) + calibration.wait },
              waits: cell.work.slices }
    Cuttle::Tuner::Profile.new(entries: [entry], overheads: { cell.setting.engine => calibration.cpu })
  end

  def factors(variation)
    @factors ||= {}
    @factors[variation] ||= begin
      random = Random.new(1)
      drawn = Array.new(20_000) { Cuttle::Lab::WorkApp::Lognormal.draw(variation, random) }.sort
      variation.zero? ? [1.0] : drawn.each_slice(100).map { |some| some.sum / some.length }
    end
  end

  # Absolute errors of a figure, ascending.
  def errors(rows, figure)
    rows.filter_map { |row| row.error(figure)&.abs }.sort
  end
end
