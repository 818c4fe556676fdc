# frozen_string_literal: true

module Bench
  # A benchmark's lab results, summarized by subject: medians over the rounds, and ratios between two subjects. Runs
  # that the lab calls invalid don't count.
  class Results
    # Figure => how to get it from a run. Times are in milliseconds, memory in MB. busiest: the share of the CPU time
    # that the busiest process has. A run's "figures" are those of its trial.
    OF_A_RUN = {
      "rate" => ->(run) { run.rate }, "byte_rate" => ->(run) { run["octets"] / run.elapsed },
      "cpu" => ->(run) { run.server["cpu_us"] }, "switches" => ->(run) { run.server["switches"] },
      "server_cpu" => ->(run) { run.server["cpu_share"] }, "load_cpu" => ->(run) { run.load_cpu },
      "pss" => ->(run) { run.server["pss_total"].fdiv(2**20) },
      "busiest" => ->(run) { run.server["cpu_by_process"].then { |each| each.max / each.sum } },
      **[50, 95, 99].to_h { |each| ["p#{each}", ->(run) { Results.time(run, each) }] },
      "p95_p50" => ->(run) { Results.time(run, 95)&.fdiv(Results.time(run, 50)) }
    }.freeze

    # A percentile in milliseconds; with too few responses, the value of those there are.
    def self.time(run, percentile)
      run.time("p#{percentile}") || run.histogram&.then { |all| all.value_at(percentile) / 1e6 if all.count.positive? }
    end

    # The middle value; nil for an empty Array.
    def self.median(values)
      Lab::Statistics.median(values) if values.any?
    end

    # The median of the ratios within each round: what affects a whole round cancels out. Both are Hashes of round =>
    # value; rounds that only one of them has don't count.
    def self.ratio(values, others)
      rounds = (values.keys & others.keys).reject { |round| others[round].zero? }
      median(rounds.map { |round| values[round].fdiv(others[round]) })
    end

    # The sums of Hashes of kind => count.
    def self.sum(counts)
      counts.reduce({}) { |sum, more| sum.merge(more) { |_kind, a, b| a + b } }
    end

    # lab: a Lab::Results.
    def initialize(lab)
      @runs = lab.runs.group_by { |run| lab.configuration(run.configuration).name }
    end

    # The runs of a subject, invalid ones included.
    def runs(name)
      @runs.fetch(name, [])
    end

    # Round => value of one figure.
    def values(name, figure)
      of_a_run = OF_A_RUN[figure]
      runs(name).select(&:valid?)
                .to_h { |run| [run.block, of_a_run ? of_a_run.call(run) : run["figures"]&.fetch(figure, nil)] }.compact
    end

    # The median over the rounds, or nil.
    def median(name, figure)
      Results.median(values(name, figure).values)
    end

    # The median over the rounds with its 95% interval: a Lab::Statistics::Estimate, or nil. low and high are nil with a
    # single round.
    def estimate(name, figure)
      values = values(name, figure).values
      Lab::Statistics.median_interval(values) if values.any?
    end

    # The median of the ratios to the other subject within each round, or nil.
    def ratio(name, base, figure)
      Results.ratio(values(name, figure), values(base, figure))
    end

    # [first quartile, median, third quartile] over the rounds, or nil.
    def quartiles(name, figure)
      values = values(name, figure).values
      [0.25, 0.5, 0.75].map { |share| Cuttle::Load::Statistics.quantile(values, share) } if values.any?
    end

    # The ratio to the other subject with its 95% interval, by Student's t on the logarithms of the ratios within each
    # round: a Lab::Statistics::Estimate, or nil. low and high are nil with a single round.
    def interval(name, base, figure)
      Lab::Statistics.paired_ratio(values(base, figure), values(name, figure))
    end

    # The value of one of a plan's figures; nil if its subjects were not measured.
    def value(figure)
      name, of, by = figure.values_at("figure", "of", "by")
      return worst(figure) if of.is_a?(Array)

      case by
      when nil then median(of, name)
      when Numeric then median(of, name)&.fdiv(by)
      else compared(figure, of, by)
      end
    end

    # Kind of error => count, over all rounds.
    def errors(name)
      Results.sum(runs(name).map(&:errors)).select { |_kind, count| count.positive? }
    end

    private

    # The ratio of two subjects, or if the figure must be shown, the worse bound of its interval. nil without a value.
    def compared(figure, of, by)
      name = figure["figure"]
      return ratio(of, by, name) unless figure["shown"]

      interval(of, by, name)&.public_send(figure["sense"] == "at_least" ? :low : :high)
    end

    # The worst of the ratios; nil unless all of the figure's subjects were measured.
    def worst(figure)
      name, names, others = figure.values_at("figure", "of", "by")
      return if names.any? { |each| values(each, name).empty? }

      ratios = names.product(others).filter_map { |each, other| compared(figure, each, other) }
      figure["sense"] == "at_least" ? ratios.min : ratios.max
    end
  end
end
