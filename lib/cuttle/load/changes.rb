# frozen_string_literal: true

module Cuttle
  module Load
    # The changes from one result to another: ratios (other / one) of their rates and percentiles, each with a bootstrap
    # interval over the runs' seconds. If the interval of a ratio contains 1, there is no measurable difference.
    class Changes
      # unit: :rate or :time. low and high are nil if there are too few seconds.
      Row = Struct.new(:name, :unit, :one, :other, :ratio, :low, :high) do
        def difference?
          low && !(low..high).cover?(1.0)
        end
      end

      PERCENTILES = [50, 90, 99, 99.9].freeze
      ENTRY = [50, 99].freeze # percentiles of a name
      SECONDS = 5 # whole seconds that each run must have
      RESAMPLES = 2000
      CONFIDENCE = 0.95
      SETTINGS = %w[loop load connections pipeline keep_alive timeout think slow_read cookies follow in_order
                    mix].freeze

      attr_reader :one, :other

      def initialize(one, other)
        @one = one
        @other = other
      end

      def rows
        @rows ||= figures.each_with_index.map do |(name, unit, before, after), index|
          low, high = intervals && intervals[index]
          Row.new(name, unit, before, after, before.zero? ? 0.0 : after.fdiv(before), low, high)
        end
      end

      # Ratios of the percentiles for each name that the requests of both runs have. They have no intervals, because a
      # result does not keep the seconds of each name.
      def entries
        one.entries.flat_map do |entry|
          twin = other.entries.find { |each| each.name == entry.name } or next []
          ENTRY.filter_map { |percentile| entry_row(entry, twin, percentile) }
        end
      end

      # Names of settings in which the runs differ. If there are several, the comparison changes more than one thing.
      def different_settings
        SETTINGS.reject { |name| one.settings[name] == other.settings[name] }
      end

      def enough_seconds?
        seconds.all? { |windows| windows.length >= SECONDS }
      end

      private

      # [name, unit, one's, other's] for each figure that both runs have.
      def figures
        @figures ||= rates.map { |title, name| [title, :rate, one.public_send(name), other.public_send(name)] } +
                     percentiles.map do |percentile|
                       ["p#{percentile}", :time, *[one, other].map { |result| result.percentile(percentile) }]
                     end
      end

      # The rate of good responses, only if it differs from the rate.
      def rates
        @rates ||= begin
          wrong = [one, other].any? { |result| result.good < result.responses }
          { "rate" => :rate, **(wrong ? { "good rate" => :good_rate } : {}) }
        end
      end

      def entry_row(entry, twin, percentile)
        before, after = [entry, twin].map { |each| Histograms.percentile(each.latency, percentile) }
        return unless before&.positive? && after

        Row.new("#{entry.name} p#{percentile}", :time, before, after, after.fdiv(before))
      end

      def percentiles
        @percentiles ||= PERCENTILES.select { |percentile| one.percentile(percentile) && other.percentile(percentile) }
      end

      def seconds
        @seconds ||= [one, other].map { |result| result.windows.select(&:whole?) }
      end

      def intervals
        return unless enough_seconds?

        @intervals ||= begin
          histograms = seconds.map { |windows| windows.map(&:histogram) }
          lengths = seconds.map(&:length)
          confidence = Statistics.expanded(CONFIDENCE, lengths.min)
          Statistics.bootstrap(*lengths, resamples: RESAMPLES, confidence: confidence) do |*picks|
            before, after = picks.each_with_index.map { |pick, run| figures_of(pick, seconds[run], histograms[run]) }
            after.zip(before).map { |value, base| base.zero? ? 0.0 : value.fdiv(base) }
          end
        end
      end

      # Rate and percentiles of the seconds at the indexes +pick+.
      def figures_of(pick, windows, histograms)
        sum = (@sum ||= Histogram.new).clear # a new one for each resample would take most of the time
        pick.tally.each { |index, times| sum.add(histograms[index], times) }
        means = rates.values.map { |name| Statistics.mean(windows.values_at(*pick).map(&name)) }
        [*means, *percentiles.map { |percentile| sum.value_at(percentile) }]
      end
    end
  end
end
