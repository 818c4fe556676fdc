# frozen_string_literal: true

module Cuttle
  module Tuner
    # The lab's measurement of a setting: its capacity in a closed loop and its response times at a rate. The members
    # are Estimates, in responses per second and seconds; memory is in octets. nil: not measured. Frozen.
    Measurement = Struct.new(:setting, :capacity, :rate, :p50, :p95, :p99, :memory, :rounds, keyword_init: true) do
      def initialize(**)
        super
        freeze
      end

      # rows: the Lab::Analysis::Row of :closed and of :open; either may be nil.
      def self.of(setting, closed:, open:)
        rows = [closed, open].compact.select(&:measured?)
        new(setting: setting, capacity: (closed.rate if closed&.measured?),
            **(open&.measured? ? { rate: open.rate, **times(open) } : {}),
            memory: rows.filter_map(&:pss_total).max, rounds: rows.map(&:valid_runs).max || 0)
      end

      def self.times(row)
        %i[p50 p95 p99].to_h do |name|
          estimate = row.public_send(name)
          [name, estimate && scaled(estimate, 1e-3)]
        end
      end

      def self.scaled(estimate, factor)
        Lab::Statistics::Estimate.new(*estimate.to_a.first(3).map { |value| value && (value * factor) }, estimate.count)
      end
    end
  end
end
