# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # Factors that correct forecasts: measured / forecast of verified settings, for each figure and kind of demand
      # (closed or open). The factor is that of the base, the setting that others are compared with. If the base was not
      # verified, it is the geometric mean over all verified settings. Another verified engine has the mean over its own
      # settings.
      #
      # Rule: all settings of an engine have the same factor, so the ratio of two of them comes from the model. With a
      # factor for each setting, a measured setting would seem to differ from its neighbours only because it was
      # measured.
      class Corrections
        FIGURES = %w[rate p50 p95 p99].freeze

        # A closed loop whose rate, in the model, is this share of the capacity measures the capacity.
        FULL = 0.97

        # No measurement of a working setting has a ratio beyond this one.
        LIMIT = 10.0

        # list: as in a Profile. The forecasts are those without corrections, but see rate_factor. base: a Setting, or
        # nil.
        def initialize(list, base: nil)
          @list = (list || []).map do |each|
            each.to_h { |name, value| [name.to_s, value.to_h.transform_keys(&:to_s)] }
          end
          @base = base
          @capacity_factors = {}
        end

        # Figure => the factor for the engine's forecasts under that kind of demand.
        def factors(engine, demand)
          known = @list.select { |each| open?(each) == demand.open? }
          FIGURES.to_h { |figure| [figure.to_sym, factor(figure, engine, known)] }
        end

        # The factor for the engine's capacities, from closed loops with enough connections.
        def capacity_factor(engine)
          @capacity_factors[engine] ||= factor("rate", engine, @list.select { |each| !open?(each) && full?(each) })
        end

        # An open loop is simulated at its rate divided by this factor: the setting is then as busy as it is, by the
        # corrected capacity, at the rate. The profile's forecasts of open loops were made in the same way. Earlier
        # versions simulated the rate itself: their forecasts are not "scaled".
        def rate_factor(engine)
          @list.any? { |each| each["forecast"]["scaled"] } ? capacity_factor(engine) : 1.0
        end

        # The factor for the memory of all settings. -t auto is predicted with all threads that it may start, and
        # measured with those that it has started, so its ratio counts only if there is no other.
        def memory_factor
          known = @list.select { |each| ratio("memory", each) }
          mean(prefer(known) { |setting| !setting.auto? }.map { |each| ratio("memory", each) })
        end

        private

        def open?(correction)
          !correction["demand"]["rate"].nil?
        end

        # Profiles of earlier versions have no capacity in corrections. For them, all slots must have a connection.
        def full?(correction)
          rate, capacity = correction["forecast"].values_at("rate", "capacity")
          return rate && rate >= capacity * FULL if capacity

          setting = setting(correction)
          correction["demand"]["connections"] >= setting.processes * setting.slots
        end

        def setting(correction)
          Setting.new(**correction["setting"].transform_keys(&:to_sym))
        end

        def factor(figure, engine, corrections)
          known = corrections.select { |each| ratio(figure, each) }
          known = prefer(known) { |setting| setting.engine == engine }
          mean(prefer(known) { |setting| setting == @base }.map { |each| ratio(figure, each) })
        end

        # The geometric mean; 1.0 without ratios.
        def mean(ratios)
          ratios.any? ? Math.exp(Load::Statistics.mean(ratios.map { |each| Math.log(each) })) : 1.0
        end

        # The corrections that meet the condition; all of them, if none does.
        def prefer(corrections)
          found = corrections.select { |each| yield setting(each) }
          found.empty? ? corrections : found
        end

        def ratio(figure, correction)
          measured, forecast = correction.values_at("measured", "forecast").map { |figures| figures[figure] }
          return unless measured.is_a?(Numeric) && forecast.is_a?(Numeric) && measured.positive? && forecast.positive?

          (measured.to_f / forecast).clamp(1 / LIMIT, LIMIT)
        end
      end
    end
  end
end
