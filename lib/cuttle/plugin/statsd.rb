# frozen_string_literal: true

module Cuttle
  class Plugin
    # Sends the metrics to StatsD with the gem statsd-instrument: counters as the increase since they were last sent,
    # gauges, and for each phase of requests the count and the quantiles since the last report.
    #
    #   plugin :statsd, every: 10, address: "127.0.0.1:8125"
    #
    # Without an address, the gem's own client sends, which environment variables configure (STATSD_ENV, STATSD_ADDR,
    # …).
    class Statsd < Plugin
      GEM = "statsd-instrument"

      OPTIONS = { every: Telemetry::Reporter::EVERY, address: nil, prefix: nil }.freeze

      # Suffix => quantile.
      QUANTILES = { "p50" => 0.5, "p95" => 0.95, "p99" => 0.99 }.freeze

      def config(words)
        self.class.require_gem(GEM)
        @reporter = Telemetry::Reporter.new(@options[:every]) { |now, before| send_all(now, before) }
        words.before_restart { @reporter.finish }
        words.after_stopped { @reporter.finish }
      end

      def start(process)
        @client = client
        @tags = !@client.datagram_builder_class.equal?(StatsD::Instrument::StatsDDatagramBuilder)
        @reporter.start(process)
      end

      private

      def client
        return StatsD.singleton_client unless @options[:address]

        environment = StatsD::Instrument::Environment.current
        StatsD::Instrument::Client.new(sink: StatsD::Instrument::Sink.for_addr(@options[:address]),
                                       implementation: environment.statsd_implementation,
                                       prefix: @options[:prefix] || environment.statsd_prefix,
                                       default_tags: environment.statsd_default_tags)
      end

      def send_all(now, before)
        @sent ||= samples(before)
        samples(now).each do |(metric, labels), value|
          case metric.type
          when :counter then count(metric, labels, value)
          when :gauge then gauge(metric.name, labels, value)
          end
        end
        Ledger.difference(now[:ledger], before[:ledger]).each { |phase, histogram| times(phase, histogram) }
        @client.force_flush if @client.respond_to?(:force_flush)
      end

      # {[metric, labels] => value}
      def samples(measures)
        Telemetry::Metrics.of(measures).flat_map do |family|
          family.samples.map { |labels, value| [[family.metric, labels], value] }
        end.to_h
      end

      # A worker's counters are absent while there is none with that index, and then go on from where they were.
      def count(metric, labels, sum)
        increase = sum - @sent.fetch([metric, labels], 0)
        increment(metric, labels, increase) if increase.positive?
        @sent[[metric, labels]] = sum
      end

      def increment(metric, labels, count)
        named(metric.name.delete_suffix("_total"), labels) { |name, tags| @client.increment(name, count, **tags) }
      end

      def gauge(metric, labels, value)
        named(metric, labels) { |name, tags| @client.gauge(name, value, **tags) }
      end

      def times(phase, histogram)
        return unless histogram[:count].positive?

        name = Telemetry::Metrics.phase(phase)&.name or return
        @client.increment("#{plain(name)}.count", histogram[:count])
        QUANTILES.each { |suffix, share| @client.gauge("#{plain(name)}.#{suffix}", Ledger.quantile(histogram, share)) }
      end

      # Yields a name with the labels as tags, or with the labels in the name if the implementation has no tags.
      def named(name, labels)
        if @tags || labels.empty?
          yield plain(name), labels.empty? ? {} : { tags: labels }
        else
          yield [plain(name), *labels.flatten].join("."), {}
        end
      end

      def plain(name) = name.sub("cuttle_", "cuttle.")
    end
  end
end
