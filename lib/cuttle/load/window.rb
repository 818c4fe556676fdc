# frozen_string_literal: true

module Cuttle
  module Load
    # The results of one second of a run, from all threads (and all agents). from and to are seconds since the start of
    # the measurement. draining: after the last request was sent. part: in the form of Run#windows, with times in
    # nanoseconds.
    class Window
      # abandoned: requests that timed out before a connection could send them.
      COUNTERS = %i[sent responses octets abandoned].freeze

      attr_reader :part

      # +parts+: the same second of several threads or generators, in the form of Run#windows (rb_stats.c).
      def self.merge(parts)
        return new(parts.first) if parts.length == 1

        errors = parts.map { |part| part[:errors] }.reduce { |one, other| one.merge(other) { |_, a, b| a + b } }
        latency = parts.each_with_object(Histogram.new) { |part, sum| Histograms.fill(sum, part[:latency]) }
        new(from: parts.map { |part| part[:from] }.min, to: parts.map { |part| part[:to] }.max,
            draining: parts.first[:draining], errors: errors, latency: Histograms.to_h(latency),
            **COUNTERS.to_h { |name| [name, parts.sum { |part| part.fetch(name, 0) }] })
      end

      # From to_h.
      def self.load(hash)
        hash = hash.transform_keys(&:to_sym)
        errors, latency = hash.values_at(:errors, :latency).map { |each| each.transform_keys(&:to_sym) }
        new(hash.merge(from: (hash[:from] * 1e9).round, to: (hash[:to] * 1e9).round, errors: errors, latency: latency))
      end

      def initialize(part)
        @part = part.freeze
        freeze
      end

      def from
        part[:from] / 1e9
      end

      def to
        part[:to] / 1e9
      end

      COUNTERS.each { |name| define_method(name) { part.fetch(name, 0) } }

      def draining?
        part[:draining]
      end

      # { connect: 0, reset: 0, … }
      def errors
        part[:errors]
      end

      def length
        to - from
      end

      # Responses per second.
      def rate
        length.positive? ? responses / length : 0.0
      end

      # Right responses per second.
      def good_rate
        length.positive? ? good / length : 0.0
      end

      # The number of right responses.
      def good
        Result.good(responses, errors)
      end

      def failures
        errors.values.sum
      end

      # Whether it covers nearly a whole second, so that it can be compared with others.
      def whole?
        !draining? && length > 0.95
      end

      # The latencies as a new Histogram.
      def histogram
        Histograms.load(part[:latency])
      end

      def to_h
        { "from" => from, "to" => to, "draining" => draining?, "sent" => sent, "responses" => responses,
          "octets" => octets, "abandoned" => abandoned, "errors" => errors.transform_keys(&:to_s),
          "latency" => part[:latency].transform_keys(&:to_s) }
      end
    end
  end
end
