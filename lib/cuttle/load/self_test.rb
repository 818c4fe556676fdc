# frozen_string_literal: true

module Cuttle
  module Load
    # Tests the generator on this machine, against servers with known faults: `cuttle load self-test`. It fails on a
    # busy machine too, because that distorts measurements. The report distinguishes the two causes.
    class SelfTest
      # about: whether a failure concerns the generator or the machine.
      Check = Struct.new(:name, :passed, :detail, :about) do
        def initialize(name, passed, detail, about: :generator)
          super(name, passed, detail, about)
        end
      end

      autoload :Delays, "cuttle/load/self_test/delays"

      CHANCE = 0.001 # if a deviation this large is less likely by chance, the distribution is wrong

      SEED = 3 # fixed, so that a test that passes once always passes

      # The error class of each faulty server.
      FAULTS = {
        closing: :early_close, resetting: :reset, truncating: :early_close, short: :length, long: :length,
        silent: :timeout, missing: :status_4xx, failing: :status_5xx
      }.freeze

      SILENCE = 0.2 # seconds to wait for a server that never answers

      # margin: the factor for the time deviations that are allowed on a busy machine.
      def initialize(margin: 1)
        @margin = margin
      end

      # Runs all checks and returns them. Yields each check when it is finished.
      def run(&block)
        CHECKS.flat_map { |name| [send(name)].flatten.each { |check| block&.call(check) } }
      end

      CHECKS = %i[ceiling delays freeze_open freeze_closed constant poisson faults].freeze

      # The generator's highest rate, against a server that does nothing.
      def ceiling
        result = TestServers.open { |server| Load.run(server.url, connections: 32, threads: 1, duration: 2) }
        Check.new("ceiling", result.failures.zero? && result.rate.positive?,
                  "#{Units.count(result.rate)} requests/s with 32 connections and 1 thread, " \
                  "#{Units.time(result.cpu_per_response)} CPU a request; p50 " \
                  "#{Units.time(result.latency.value_at(50))}")
      end

      def delays
        Delays.new(margin: @margin).run
      end

      # A server that freezes for 2 s makes users wait, in either loop.
      def freeze_open
        result = frozen_server { |server| Load.run(server.url, rate: 500, threads: 1, duration: 6) }
        p99 = result.latency.value_at(99)
        Check.new("freeze, open loop", p99 >= 1.5e9,
                  "p99 #{Units.time(p99)} after 2 s of a freeze in 6 s (at least 1.50 s)")
      end

      def freeze_closed
        result = frozen_server { |server| Load.run(server.url, connections: 4, threads: 1, duration: 6) }
        mark = result.marks.find { |each| each.name == :frozen }
        Check.new("freeze, closed loop", !mark.nil?, mark ? mark.text : "no warning of a freeze of 2 s")
      end

      def frozen_server(&block)
        TestServers.open(freeze_at: 2, freeze: 2, &block)
      end

      # The requests of two threads together have even distances.
      def constant
        gaps = gaps(poisson: false)
        Check.new("constant arrivals", mean_right?(gaps, 0.001) && variation(gaps) < 0.001, "#{describe(gaps)} of 0")
      end

      # The requests of two threads together are random, with exponential gaps (Kolmogorov-Smirnov).
      def poisson
        gaps = gaps(poisson: true)
        _, chance = Statistics.kolmogorov_smirnov(gaps) { |gap| 1 - Math.exp(-gap / 1e6) }
        passed = mean_right?(gaps, 0.03) && (variation(gaps) - 1).abs < 0.05 && chance > CHANCE
        Check.new("Poisson arrivals", passed, "#{describe(gaps)} of 1, p #{format("%.3f", chance)}")
      end

      def variation(gaps)
        Statistics.deviation(gaps) / Statistics.mean(gaps)
      end

      def describe(gaps)
        "mean #{Units.time(Statistics.mean(gaps))} of #{Units.time(1e6)}, coefficient of variation " \
          "#{format("%.4f", variation(gaps))}"
      end

      # Nanoseconds between the arrivals of two threads at 1000/s.
      def gaps(poisson:)
        shape = Schedules.build(rate: 1000, poisson: poisson).shape
        times = (0..1).flat_map { |part| Parts.arrivals(shape, SEED, part, 2, 6000) }.sort.first(10_000)
        times.each_cons(2).map { |one, other| other - one }
      end

      def mean_right?(gaps, tolerance)
        (Statistics.mean(gaps) / 1e6 - 1).abs < tolerance
      end

      # Each fault counts as its own class only, and a server that does not use HTTP is detected.
      def faults
        FAULTS.map { |kind, wanted| fault(kind, wanted) } << no_http
      end

      # Options for a run against that kind of server. A server that answers has enough time, on any machine.
      def self.patience(kind)
        kind == :silent ? { timeout: SILENCE } : {}
      end

      def fault(kind, wanted)
        result = TestServers.open(kind) do |server|
          Load.run(server.url, connections: 2, threads: 1, requests: 20, **SelfTest.patience(kind))
        end
        counted = result.errors.select { |_, count| count.positive? }
        said = counted.map { |name, count| "#{count} #{name}" }.join(", ")
        Check.new("#{kind} server", counted == { wanted => 20 }, "20 requests: #{said}")
      end

      def no_http
        TestServers.open(:babbling) { |server| Load.run(server.url, connections: 1, requests: 1) }
        Check.new("babbling server", false, "not noticed")
      rescue Failure => error
        Check.new("babbling server", error.message.include?("not HTTP"), error.message)
      end
    end
  end
end
