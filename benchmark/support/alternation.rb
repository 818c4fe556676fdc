# frozen_string_literal: true

module Bench
  # Compares servers that run at the same time on one core, by loading them in turn for a second or two. The others are
  # idle meanwhile. On a machine whose cores change their speed from minute to minute, the lab can't compare servers
  # within 5%, because it starts a server for each run: two runs are half a minute apart. Here they are a second apart.
  #
  # Rule: only results of the same round are compared. A session starts all servers again, because a start may be
  # lucky.
  class Alternation
    # A load of one server. cpu: microseconds per request. latency: a Load::Histogram. errors: their number.
    Turn = Struct.new(:rate, :cpu, :latency, :errors, keyword_init: true)

    # The lab's configuration of "ENGINE:THREADS", "SERVER:THREADS", "hybrid-auto", or "at:COMMIT" (of Cuttle; "at:." is
    # this tree), which flags may follow. workers: nil for the fewest. pool: under auto, the connections of the app's
    # database pool, which limit the threads. Raises Lab::Failure.
    def self.contestant(text, workers: nil, pool: nil)
      kind, *flags = text.split
      return checkout(text, kind.delete_prefix("at:"), flags, workers) if kind.start_with?("at:")

      name, threads = kind.split(":")
      peer = Peers.find(Peers.names.include?(name) ? name : "cuttle")
      { "server" => peer.name, "model" => peer.name == name ? peer.models.first : name,
        "workers" => workers || peer.workers.begin, "threads" => Integer(threads || 1), "keep_alive" => true,
        "flags" => flags.empty? ? nil : flags, "name" => text,
        "environment" => pool && name.end_with?("-auto") ? { "RAILS_MAX_THREADS" => pool } : {} }
    end

    def self.checkout(name, commit, flags, workers)
      raise Lab::Failure, "#{name}: give -w among its flags, not --workers" if workers

      peer = Peers.add(Checkout.new(name, commit == "." ? ROOT : Checkout.at(commit), flags))
      { "server" => name, "model" => peer.models.first, "workers" => peer.workers.begin, "threads" => 1,
        "keep_alive" => true, "name" => name }
    end
    private_class_method :checkout

    # app: as in Lab::Options. rate: requests per second of an open loop; nil: a closed loop. even: whether the open
    # loop sends at equal distances, instead of at random as in a Poisson process. rounds: of each session. seconds: of
    # a turn.
    def initialize(contestants, app:, connections:, sessions:, rounds:, seconds:, warmup:, seed:, rate: nil,
                   even: false, cores: Bench.cores)
      @app = Lab::Apps.find(app)
      load = { "connections" => connections, "loop" => rate ? "open" : "closed", "rate" => rate,
               "poisson" => !rate.nil? && !even }
      @plan = Lab::Plan::Declared.new(contestants.map { |each| [each, load] })
                                 .plan(seed: seed, rounds: rounds, duration: seconds, warmup: warmup)
      raise Lab::Failure, @plan.missing.values.first if @plan.missing.any?

      @sessions = sessions
      @cores = cores
      @random = Random.new(seed)
      @turns = @plan.configurations.to_h { |each| [each.name, []] }
    end

    # Returns { name => Turns in the order of rounds }. Calls the block after each round. Raises Lab::Failure, and
    # Load::Failure among others.
    def run(&block)
      options = Lab::Options.new(app: @app, patience: 10)
      Lab::Runner::Lock.hold do
        @cores.pinning_self do
          Lab::Runner::Testbed.open(@app, options, @cores) do |testbed|
            @sessions.times { start(testbed, @plan.configurations.shuffle(random: @random), {}, &block) }
          end
        end
      end
      @turns
    end

    private

    def load = @plan.loads.first

    # Starts the servers, each within the block of the one before, and alternates once all of them run.
    def start(testbed, waiting, contestants, &block)
      configuration, *rest = waiting
      return alternate(contestants, &block) unless configuration

      testbed.serve(configuration, [load]) do |server, routes|
        url = routes.to(load).url
        options = testbed.load_options(configuration, load, @cores)
        generate = ->(seconds) { Cuttle::Load.run(url, duration: seconds, **options) }
        start(testbed, rest, contestants.merge(configuration.name => [server, generate]), &block)
      end
    end

    def alternate(contestants)
      contestants.each_value { |_, generate| generate.call(@plan.warmup) }
      @plan.rounds.times do
        contestants.to_a.shuffle(random: @random).each { |name, (server, generate)| take_turn(name, server, generate) }
        yield
      end
    end

    def take_turn(name, server, generate)
      before = server.tree.cpu_seconds
      result = generate.call(@plan.duration)
      used = server.tree.cpu_seconds - before
      raise Lab::Failure, "#{name} answered nothing in #{@plan.duration} s" if result.responses.zero?

      @turns[name] << Turn.new(rate: result.rate, cpu: used * 1e6 / result.responses, latency: result.latency,
                               errors: result.failures)
    end

    # What the turns show: a line for each contestant, and one for each ratio of the first contestant to another.
    class Findings
      PERCENTILES = [50, 99].freeze
      RESAMPLES = 500 # of rounds, for the interval of a percentile

      # turns: those of Alternation#run.
      def initialize(turns)
        @turns = turns
        @base = turns.first
      end

      def to_s
        [*@turns.map { |name, turns| line(name, turns) },
         *@turns.keys.drop(1).map { |name| comparison(name) }].join("\n")
      end

      # { rate:, cpu:, 50 =>, 99 => }: the base's figure divided by the other's, each a Lab::Statistics::Estimate.
      def ratios(name)
        base, other = @base.last, @turns.fetch(name)
        figures = %i[rate cpu].to_h do |figure|
          [figure, Lab::Statistics.paired_ratio(other.map(&figure), base.map(&figure))]
        end
        figures.merge(PERCENTILES.to_h { |percent| [percent, tails(base.zip(other), percent)] })
      end

      private

      def line(name, turns)
        rate, cpu = %i[rate cpu].map { |figure| Lab::Statistics.median(turns.map(&figure)) }
        times = PERCENTILES.map { |percent| format("p%d %.2f ms", percent, percentile(turns, percent) / 1e6) }
        [format("%-14s %9.1f requests/s  %9.1f us", name, rate, cpu), *times,
         "#{turns.sum(&:errors)} errors"].join("  ")
      end

      def comparison(name)
        shown = ratios(name).map do |figure, ratio|
          title = figure.is_a?(Integer) ? "p#{figure}" : figure
          format("%s %.3f (%.3f to %.3f)", title, ratio.value, ratio.low, ratio.high)
        end
        "#{@base.first} by #{name}: #{shown.join("  ")}"
      end

      # The ratio of the percentiles of all rounds together. The interval resamples whole rounds.
      def tails(pairs, percent)
        Lab::Statistics::Bootstrap.estimate(pairs, resamples: RESAMPLES) do |picked|
          base, other = picked.transpose
          percentile(base, percent).fdiv(percentile(other, percent))
        end
      end

      def percentile(turns, percent)
        Cuttle::Load::Histograms.sum(turns.map(&:latency)).value_at(percent)
      end
    end
  end
end
