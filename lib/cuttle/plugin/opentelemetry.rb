# frozen_string_literal: true

module Cuttle
  class Plugin
    # Sends the metrics with OpenTelemetry: the gem opentelemetry-metrics-sdk, and an exporter, by default the one of
    # the gem opentelemetry-exporter-otlp-metrics, which environment variables configure (OTEL_EXPORTER_OTLP_ENDPOINT,
    # …).
    #
    #   plugin :opentelemetry, every: 10
    #   plugin :opentelemetry, exporter: MyExporter.new   # takes export(metrics, timeout:), as the SDK's exporters do
    #
    # Histograms are sent as such. They are cumulative, as counters are, since the start of the server. The SDK's
    # instruments are not used, because they take one value at a time, in each worker.
    class Opentelemetry < Plugin
      SDK = "opentelemetry-metrics-sdk"
      EXPORTER = "opentelemetry-exporter-otlp-metrics"

      OPTIONS = { every: Telemetry::Reporter::EVERY, exporter: nil }.freeze

      # Seconds for one report.
      TIMEOUT = 5

      UNITS = { "seconds" => "s", "bytes" => "By", nil => "1" }.freeze

      KINDS = { counter: :observable_counter, gauge: :observable_gauge, histogram: :histogram }.freeze

      def config(words)
        [SDK, *(EXPORTER unless @options[:exporter])].each { |gem| self.class.require_gem(gem) }
        @reporter = Telemetry::Reporter.new(@options[:every]) { |now, _| export(now) }
        words.before_restart { @reporter.finish }
        words.after_stopped { @reporter.finish }
      end

      def start(process)
        @exporter = @options[:exporter] || OpenTelemetry::Exporter::OTLP::Metrics::MetricsExporter.new
        @resource = resource
        @scope = OpenTelemetry::SDK::InstrumentationScope.new("cuttle", VERSION)
        @reporter.start(process)
      end

      private

      # The SDK keeps its default, with this process' pid, for workers too. So it is made here.
      def resource
        kind = OpenTelemetry::SDK::Resources::Resource
        own = ENV["OTEL_SERVICE_NAME"] ? { "service.name" => ENV["OTEL_SERVICE_NAME"] } : {}
        [kind.process, kind.telemetry_sdk, kind.create(own)].reduce(kind.create("service.name" => "cuttle"), :merge)
      end

      def export(measures)
        at = nanoseconds(Time.now)
        since = measures[:started_at] ? nanoseconds(measures[:started_at]) : at
        data = Telemetry::Metrics.of(measures).map { |family| data(family, since, at) }
        @exporter.export(data, timeout: TIMEOUT)
      end

      # A struct's members differ between versions of the SDK.
      def data(family, since, at)
        metric = family.metric
        points = family.samples.map { |labels, value| point(labels.transform_keys(&:to_s), value, since, at) }
        fill(OpenTelemetry::SDK::Metrics::State::MetricData,
             name: name(metric), description: metric.help, unit: UNITS.fetch(metric.unit), resource: @resource,
             instrument_kind: KINDS.fetch(metric.type), instrumentation_scope: @scope, data_points: points,
             aggregation_temporality: metric.type == :gauge ? nil : :cumulative, start_time_unix_nano: since,
             time_unix_nano: at, is_monotonic: metric.type == :counter)
      end

      def point(labels, value, since, at)
        common = { attributes: labels, start_time_unix_nano: since, time_unix_nano: at, exemplars: [] }
        aggregation = OpenTelemetry::SDK::Metrics::Aggregation
        histogram = Telemetry::Metrics::Histogram
        return fill(aggregation::NumberDataPoint, **common, value: value) unless value.is_a?(histogram)

        fill(aggregation::HistogramDataPoint, **common, count: value.count, sum: value.sum,
                                                        bucket_counts: value.counts, explicit_bounds: histogram.bounds)
      end

      def fill(struct, **values)
        struct.new(*struct.members.map { |member| values[member] })
      end

      # A name from which collectors make Prometheus' name again: they add unit and kind.
      def name(metric)
        metric.name.delete_suffix("_total").delete_suffix("_#{metric.unit}").sub("cuttle_", "cuttle.")
      end

      def nanoseconds(time) = (time.to_r * 1_000_000_000).to_i
    end
  end
end
