# frozen_string_literal: true

module Cuttle
  module Load
    module Reports
      # The result as metrics in Prometheus' text format, for a Pushgateway or a textfile collector. TABLE lists all of
      # them.
      module Prometheus
        # In the form that Telemetry::Prometheus reads: name, type, help. read takes a Result and returns the samples:
        # [[{ label => value }, number or Buckets], …].
        Metric = Struct.new(:name, :type, :help, :read)
        Family = Struct.new(:metric, :samples)

        # A Histogram in few buckets. Each bound is the end of a slot, so each count is exact.
        class Buckets
          WANTED = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
                    60].freeze # seconds

          def self.bounds
            @bounds ||= WANTED.map { |seconds| Histogram.highest(Histogram.index((seconds * 1e9).round)) }.freeze
          end

          def initialize(histogram)
            @histogram = histogram
          end

          # The sum in seconds.
          def sum
            @histogram.sum / 1e9
          end

          # [[upper bound in seconds, values up to it], …]; the last bound is Infinity.
          def cumulative
            counts = Buckets.bounds.map { |bound| [bound / 1e9, @histogram.count_to(bound)] }
            counts << [Float::INFINITY, @histogram.count]
          end
        end

        def self.counter(name, help, &read)
          Metric.new("cuttle_load_#{name}_total", :counter, help, read)
        end

        def self.gauge(name, help, &read)
          Metric.new("cuttle_load_#{name}", :gauge, help, read)
        end

        # A metric of histograms that have values.
        def self.histogram(name, help)
          Metric.new("cuttle_load_#{name}_seconds", :histogram, help, lambda do |result|
            yield(result).reject { |_, histogram| histogram.count.zero? }
                         .map { |labels, histogram| [labels, Buckets.new(histogram)] }
          end)
        end

        TABLE = [
          counter("requests_sent", "Requests that were sent.") { |it| [[{}, it.sent]] },
          counter("requests_abandoned", "Requests that timed out before they could be sent.") do |it|
            [[{}, it.abandoned]]
          end,
          counter("requests_retried", "Requests that were sent again on a new connection.") { |it| [[{}, it.retried]] },
          counter("responses", "Complete responses.") do |it|
            it.statuses.map { |status, count| [{ status: status }, count] }
          end,
          counter("good_responses", "Responses without an error.") { |it| [[{}, it.good]] },
          counter("errors", "Errors.") { |it| it.errors.map { |name, count| [{ class: name }, count] } },
          counter("received_bytes", "Octets of responses.") { |it| [[{}, it.octets]] },
          gauge("rate", "Responses per second.") { |it| [[{}, it.rate]] },
          gauge("good_rate", "Responses without an error per second.") { |it| [[{}, it.good_rate]] },
          gauge("start_time_seconds", "When the run began, in Unix time.") { |it| [[{}, it.started_at.to_f]] },
          gauge("duration_seconds", "How long requests were sent.") { |it| [[{}, it.elapsed.to_f]] },
          gauge("marks", "Warnings about these figures.") do |it|
            it.marks.map { |mark| [{ mark: mark.name }, 1] }
          end,
          histogram("response_time", "Response times, from the intended times.") { |it| [[{}, it.latency]] },
          histogram("response_time_by_request", "Response times by request of a mix.") do |it|
            it.entries.map { |entry| [{ request: entry.name }, entry.latency] }
          end,
          histogram("service_time", "Times from a request's sending to its last octet.") { |it| [[{}, it.service]] },
          histogram("send_lag", "How late requests were sent.") { |it| [[{}, it.lag]] },
          histogram("connect", "Times that connections took to be established.") { |it| [[{}, it.connect]] }
        ].freeze

        module_function

        def render(result)
          families = TABLE.map { |metric| Family.new(metric, metric.read.call(result)) }
          Telemetry::Prometheus.text(families.reject { |family| family.samples.empty? })
        end
      end
    end
  end
end
