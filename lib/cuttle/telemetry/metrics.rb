# frozen_string_literal: true

module Cuttle
  module Telemetry
    # The metrics of a server: names by the conventions of Prometheus, base units, few labels. TABLE has all of them.
    # The control listener prints them as text (Prometheus); the plugins statsd and opentelemetry send them. They are
    # read when somebody asks, in the supervisor or the only process; a request does nothing for them.
    #
    # What they are made from, +measures+, is what Control::Commands#measures returns:
    #
    #   versions     Stats.versions
    #   started_at   Time
    #   ready        true or false
    #   workers      {known:, ready:, old:, started:, died:}; nil without workers (-w 0)
    #   totals       {requests_count:, accepted:, …}, since the start, also of workers that have gone
    #   processes    of each process that serves {index:, pid:, started_at:, restarts:, requests:, stats:}; with -w 0 it
    #                has no index, and no restarts and requests
    #   owners       {{process: "worker", worker: "0"} => [pid, …]}, whose memory counts
    #   memory       {pid => octets}
    #   ledger       {phase => {count:, sum:, buckets:}}, nanoseconds
    module Metrics
      autoload :Histogram, "cuttle/telemetry/metrics/histogram"
      autoload :TABLE, "cuttle/telemetry/metrics/table"

      # +name+, +type+ (:counter, :gauge, :histogram), +unit+ ("seconds", "bytes" or nil), +help+ (one sentence) and
      # +labels+ (their names). +read+ takes measures and returns the samples: [[{label => value}, number or
      # Histogram], …]. +phase+: of the ledger, or nil.
      Metric = Struct.new(:name, :type, :unit, :help, :labels, :read, :phase, keyword_init: true)

      # A metric with its samples at one moment.
      Family = Struct.new(:metric, :samples)

      module_function

      # The Families of +measures+ that have samples, in the order of TABLE.
      def of(measures)
        TABLE.map { |metric| Family.new(metric, metric.read.call(measures)) }.reject { |family| family.samples.empty? }
      end

      # The Metric of a phase of the ledger; nil if there is none.
      def phase(name) = TABLE.find { |metric| metric.phase == name }

      # Loads the code, for a process that forks while another thread asks.
      def preload
        TABLE.length + Histogram.bounds.length
      end
    end
  end
end
