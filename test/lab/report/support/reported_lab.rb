# frozen_string_literal: true

# The results file of a lab that never ran: a seeded model of servers (slots, cores, waiting), in the format that a lab
# writes. It has what a report must be able to show: a control, a server that is missing, runs that aren't valid, one
# that came to nothing, errors, warnings, and settings that differ.
class ReportedLab
  CPU = 0.005 # seconds a request
  WAIT = 0.020
  CORES = 2
  HISTOGRAM_SAMPLES = 1000

  MODELS = { "single" => 1, "threads" => 5, "reactor" => 1, "hybrid" => 5, "fibers" => nil }.freeze
  CLOSED = [1, 5, 20, 100].freeze

  attr_reader :header

  # slowdown: of every configuration, for two labs to compare. names: { id => name } to replace.
  def initialize(seed: 1, rounds: 5, slowdown: 1.0, names: {}, closed: CLOSED, rates: [150], clean: false)
    @random = Random.new(seed)
    @rounds = rounds
    @slowdown = slowdown
    @clean = clean
    @configurations = configurations(names)
    @loads = loads(closed, rates)
    @header = header_of(seed)
  end

  def lines
    [header, *(troubles unless @clean), *runs, { "type" => "end", "at" => at(9999), "interrupted" => false }].compact
  end

  private

  def header_of(seed)
    { "type" => "lab", "schema" => "cuttle-lab/1", "id" => "20261121-105500", "started_at" => at(0),
      "command" => ["cuttle", "lab", "--workers", "0,2", "--concurrency", "1,5,20,100", "--seed", seed.to_s],
      "seed" => seed, "rounds" => @rounds, "duration" => 5.0, "warmup" => 2.0,
      "app" => { "name" => "work", "path" => "examples/work.ru",
                 "profile" => { "cpu_ms" => 5, "iowait_ms" => 20, "response_chars" => 1000 } },
      "configurations" => @configurations, "loads" => @loads, "environment" => environment, "fairness" => fairness,
      "cut" => @clean ? [] : ["2 of 7 rounds, for --budget 10m"] }
  end

  def environment
    { "cpu" => "Example CPU @ 2.50GHz", "cores" => 2, "memory" => 4_100_000_000, "system" => "Debian GNU/Linux 12",
      "kernel" => "6.1.0", "ruby" => "3.1.2", "yjit" => false, "server_cores" => [0], "load_cores" => [1],
      "cuttle" => "0.1.0" }
  end

  def fairness
    [{ "what" => "backlog", "same" => true, "detail" => "1024 everywhere" },
     { "what" => "keep-alive", "same" => true, "detail" => "on" },
     { "what" => "slots", "same" => false, "detail" => "1 to 10, and without a bound: fibers" }]
  end

  def configurations(names)
    ours = [0, 2].flat_map { |workers| MODELS.map { |model, threads| ours(model, workers, threads) } }
    peers = [["puma", nil, 0, 5], ["puma", nil, 2, 5], ["unicorn", nil, 2, 1], ["falcon", nil, 2, nil]]
    all = [*ours, *peers.map { |each| peer(*each) }]
    all = all.map.with_index(1) { |configuration, number| configuration.merge("id" => "c#{number}") }
    control = all[3].merge("id" => "c#{all.length + 1}", "name" => "#{all[3]["name"]} (again)", "control_of" => "c4")
    [*all, control].map { |each| each.merge("name" => names.fetch(each["id"], each["name"])) }
  end

  def ours(model, workers, threads)
    peer("cuttle", model, workers, threads)
  end

  def peer(server, model, workers, threads)
    name = [model || server, ("-w #{workers}" if workers.positive?), ("-t #{threads}" if threads && threads > 1)]
    { "name" => name.compact.join(" "), "server" => server, "model" => model, "workers" => workers,
      "threads" => threads, "keep_alive" => true, "ruby" => "3.1.2", "version" => "1.0",
      "slots" => threads && (threads * [workers, 1].max), "control_of" => nil }
  end

  def loads(closed, rates)
    all = closed.map { |count| ["#{count} connection#{"s" if count > 1}", "closed", count, nil] } +
          rates.map { |rate| ["#{rate}/s", "open", 1000, rate] }
    all.map.with_index(1) do |(name, loop, connections, rate), number|
      { "id" => "l#{number}", "name" => name, "loop" => loop, "connections" => connections, "rate" => rate,
        "poisson" => !rate.nil?, "keep_alive" => true }
    end
  end

  def missing
    @configurations.find { |each| each["server"] == "falcon" }
  end

  def troubles
    [{ "type" => "missing", "configuration" => missing["id"],
       "reason" => "falcon is not installed: cuttle lab peers --install falcon" },
     { "type" => "failure", "configuration" => "c13", "load" => "l2", "block" => 1, "at" => at(50),
       "reason" => "the server died: undefined method `call' for nil" },
     { "type" => "warning", "at" => at(3), "name" => "steal", "text" => "the hypervisor took 3% of the CPU time",
       "advice" => "measure on a machine of your own, or with more rounds" }]
  end

  def at(seconds)
    (Time.utc(2026, 11, 21, 10, 55) + seconds).strftime("%Y-%m-%dT%H:%M:%S.000Z")
  end

  def runs
    order = 0
    @rounds.times.flat_map do |block|
      (@configurations - [missing]).shuffle(random: @random).product(@loads).map do |configuration, load|
        run(configuration, load, block, order += 1)
      end
    end
  end

  def run(configuration, load, block, order)
    rate, time = performance(configuration, load)
    histogram = histogram(time)
    count = (rate * 5).round
    errors = @clean || configuration["server"] != "puma" || load["connections"] < 100 ? 0 : 2
    { "type" => "run", "configuration" => configuration["id"], "load" => load["id"], "block" => block,
      "order" => order, "at" => at(order * 8), "boot" => 0.3 + (@random.rand * 0.2), "steady" => true, "rate" => rate,
      "responses" => count, "sent" => count + 1, "elapsed" => 5.0, "errors" => { "connect" => 0, "timeout" => errors },
      "ms" => times(histogram), "server" => costs(configuration), "load_cpu" => 0.2, "windows" => windows(rate, time),
      "histogram" => Cuttle::Load::Histograms.to_h(histogram), "warnings" => [],
      **validity(configuration, load, block) }
  end

  def validity(configuration, load, block)
    spoiled = !@clean && block == 2 && configuration["id"] == "c7"
    workers = configuration["workers"]
    { "valid" => !spoiled, "reasons" => spoiled ? ["1 of 2 workers was there"] : [],
      "marks" => load["connections"] == 1 ? [{ "name" => "few_samples", "text" => "too few samples: 210" }] : [],
      "proof" => [{ "setting" => "workers", "wanted" => workers, "found" => spoiled ? 1 : workers, "proved" => !spoiled,
                    "how" => "children of the leader in /proc" }] }
  end

  # Responses per second, and seconds of the typical one.
  def performance(configuration, load)
    cpu = CPU * @slowdown * (configuration["server"] == "cuttle" ? 1 : 1.15)
    processes = [configuration["workers"], 1].max
    capacity = [[processes, CORES].min / cpu, (configuration["slots"] || 1e9) / (cpu + WAIT)].min
    asked = load["rate"] || load["connections"] / (cpu + WAIT)
    rate = [asked, capacity].min * (1 + (@random.rand * 0.03) - 0.015)
    waiting = load["rate"] ? [asked / capacity, 3].min**4 * 0.02 : [(load["connections"] / rate) - cpu - WAIT, 0].max
    [rate, cpu + WAIT + waiting]
  end

  def histogram(typical)
    histogram = Cuttle::Load::Histogram.new
    HISTOGRAM_SAMPLES.times { histogram.record((typical * 1e9 * spread).round) }
    histogram
  end

  # A long tail to the right.
  def spread
    Math.exp((@random.rand + @random.rand + @random.rand - 1.5) * 0.35) * (@random.rand < 0.02 ? 1.8 : 1)
  end

  def times(histogram)
    of = [50, 90, 95, 99].to_h { |percentile| ["p#{percentile}", histogram.value_at(percentile) / 1e6] }
    { "min" => histogram.min / 1e6, "mean" => histogram.mean / 1e6, **of, "p99.9" => nil, "max" => histogram.max / 1e6 }
  end

  def costs(configuration)
    workers = configuration["workers"]
    each = (configuration["server"] == "cuttle" ? 21e6 : 27e6) * (1 + (@random.rand * 0.05))
    pss = workers.zero? ? [each.round] : [(each * 0.4).round, *Array.new(workers) { (each * 0.8).round }]
    { "cpu_us" => 5100 + (@random.rand * 200), "switches" => 1.8 + @random.rand, "pss" => pss, "pss_total" => pss.sum,
      "cpu_share" => 0.97 }
  end

  def windows(rate, time)
    5.times.map do |second|
      { "from" => second.to_f, "to" => second + 1.0, "rate" => rate * (1 + (@random.rand * 0.04)),
        "p50_ms" => time * 1000 * (1 + (@random.rand * 0.05)), "p99_ms" => time * 2600 * (1 + (@random.rand * 0.3)),
        "errors" => 0 }
    end
  end
end
