# frozen_string_literal: true

module Cuttle
  module Tuner
    # The results of a verification: the lab's results as Measurements, comparisons and corrections.
    class Verified
      autoload :Several, "cuttle/tuner/verified/several"

      CERTAIN = 1.5 # a figure with a wider interval does not correct the model

      # The verifications of a tune, as Lab::Results in their order.
      def self.of(list)
        parts = list.map { |results| new(results) }
        parts.one? ? parts.first : Several.new(parts)
      end

      # results: Lab::Results of a Verification.
      def initialize(results)
        @results = results
        @analysis = Lab::Analysis.new(results)
        @open, @closed = [true, false].map { |open| results.loads.find { |load| load.open? == open } }
      end

      attr_reader :results

      # Setting => Measurement, for settings with a valid run of the closed loop.
      def measurements
        @measurements ||= settings.to_h do |setting, configuration|
          rows = { closed: @closed, open: @open }.transform_values { |load| load && @analysis.row(configuration, load) }
          [setting, Measurement.of(setting, **rows)]
        end.select { |_, measurement| measurement.capacity }
      end

      # The rate of the open loop.
      def rate
        @open.rate
      end

      # The closed loop's, for every setting.
      def connections(_setting = nil)
        @closed.connections
      end

      # Whether the verification was to measure that setting.
      def tried?(setting)
        settings.key?(setting)
      end

      # +setting+ compared with +base+: a Lab::Analysis::Comparison for :capacity and for :p95, or nil.
      def compare(setting, base)
        one, other = [base, setting].map { |each| settings[each] }
        return { capacity: nil, p95: nil } unless one && other

        { capacity: @closed, p95: @open }.transform_values do |load|
          @analysis.comparisons(baseline: one, load: load).find { |each| each.configuration.id == other.id }
        end
      end

      # Settings of which every run of the closed loop failed, or every run => why the first one did. (Valid runs of the
      # open loop show only that a setting serves that rate: its requests may fail when all of its slots are in use.) A
      # run whose settings could not be proved is invalid, but says nothing about the app.
      def failures
        @failures ||= settings.except(*measurements.keys).filter_map do |setting, configuration|
          answers = results.runs(configuration: configuration).any?(&:valid?)
          found = reasons do |each|
            each.configuration == configuration.id && (each[:load] == @closed.id || !answers)
          end
          reason = found.find { |each| !each.start_with?(Lab::Runner::Trial::UNPROVED) }
          [setting, reason] if reason
        end.to_h
      end

      # The reasons for invalid runs and failures: lines.
      def troubles
        reasons { true }
      end

      # For Profile#corrections: the model's forecast for each load, with the measurement. model: one without
      # corrections. The forecasts of the open loop follow the measured capacities, because corrected models do.
      def corrections(model, cores:)
        closed = measurements.values.filter_map do |found|
          correction(model, found, Demand.closed(connections), cores, memory: found.memory, rate: found.capacity)
        end
        closed + measurements.values.filter_map do |found|
          correction(model.corrected(closed, base: found.setting), found, Demand.open(rate), cores,
                     **found.to_h.slice(:rate, :p50, :p95, :p99))
        end
      end

      private

      # Why the runs that meet the condition failed, or could not be made.
      def reasons(&)
        failed = [*results.failures, *results.missing].select(&).map(&:reason)
        invalid = results.runs.reject(&:valid?).select(&)
        (failed + invalid.flat_map { |run| run.reasons || [] }).uniq
      end

      # Setting => Results::Configuration.
      def settings
        @settings ||= @results.configurations.to_h { |each| [Verification.setting(each), each] }
      end

      # A correction with the figures that were measured precisely enough, and with the memory.
      def correction(model, found, demand, cores, memory: nil, **measured)
        known = measured.select { |_, estimate| certain?(estimate) }.transform_values(&:value)
        known[:memory] = memory if memory
        return if known.empty?

        forecast = model.forecast(found.setting, demand, cores: cores)
        { "setting" => found.setting.to_h, "demand" => demand.to_h, "measured" => known,
          "forecast" => { **forecast.to_h.slice(*known.keys, :capacity), scaled: true } }.then { |hash| plain(hash) }
      end

      def certain?(estimate)
        Report::Numbers.interval?(estimate) && estimate.high <= estimate.low * CERTAIN
      end

      # The value as JSON reads it back.
      def plain(value)
        case value
        when Hash then value.to_h { |key, each| [key.to_s, plain(each)] }
        when Float then value if value.finite?
        else value
        end
      end
    end
  end
end
