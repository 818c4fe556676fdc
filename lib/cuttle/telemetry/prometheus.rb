# frozen_string_literal: true

module Cuttle
  module Telemetry
    # Metrics in Prometheus' text format 0.0.4.
    module Prometheus
      TYPE = "text/plain; version=0.0.4; charset=utf-8"

      module_function

      # Loads the code, for a process that forks while another thread asks.
      def preload
        Metrics.preload
      end

      # +families+: what Metrics.of returns, or the like. A histogram has cumulative and sum (see Metrics::Histogram).
      def text(families)
        families.map { |family| head(family.metric) + family.samples.map { |sample| lines(family, *sample) }.join }.join
      end

      def head(metric)
        help = metric.help.gsub("\\", "\\\\\\\\").gsub("\n", "\\n")
        "# HELP #{metric.name} #{help}\n# TYPE #{metric.name} #{metric.type}\n"
      end

      def lines(family, labels, value)
        name = family.metric.name
        return line(name, labels, value) unless value.respond_to?(:cumulative)

        buckets = value.cumulative
        buckets.map { |bound, count| line("#{name}_bucket", { **labels, le: number(bound) }, count) }.join +
          line("#{name}_sum", labels, value.sum) + line("#{name}_count", labels, buckets.last.last)
      end

      def line(name, labels, value)
        pairs = labels.map { |label, text| "#{label}=\"#{escape(text)}\"" }
        "#{name}#{"{#{pairs.join(",")}}" if pairs.any?} #{number(value)}\n"
      end

      def escape(text)
        text.to_s.gsub(/[\\"\n]/, "\\" => "\\\\", '"' => '\\"', "\n" => "\\n")
      end

      # As Go reads it.
      def number(value)
        return value.to_s unless value.is_a?(Float)
        return value.to_i.to_s if value.finite? && value == value.to_i && value.abs < 1e15

        value.finite? ? value.to_s : { 1 => "+Inf", -1 => "-Inf" }.fetch(value.infinite?, "NaN")
      end
    end
  end
end
