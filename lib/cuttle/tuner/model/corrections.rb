# frozen_string_literal: true

module Cuttle
  module Tuner
    class Model
      # What verified settings say of their neighbours: measured / forecast of each figure. The same setting gets the
      # whole ratio, and each doubling of workers or threads on the way to another halves its logarithm. Only settings
      # of the same engine count, under a demand of the same kind (closed or open), and of them only the nearest; if
      # several are equally near, the mean of their logarithms.
      class Corrections
        FIGURES = %w[rate p50 p95 p99].freeze

        # A ratio that no measurement of a setting that works can have.
        LIMIT = 10.0

        # list: as in a Profile, with the forecasts as they were before any correction.
        def initialize(list)
          @list = (list || []).map do |each|
            each.to_h { |name, value| [name.to_s, value.to_h.transform_keys(&:to_s)] }
          end
        end

        # Figure => the factor that corrects its forecast.
        def factors(setting, demand)
          near = nearest(setting, @list.select { |each| open?(each) == demand.open? })
          FIGURES.to_h { |figure| [figure.to_sym, factor(figure, near)] }
        end

        # The factor that corrects a capacity: what closed loops, with enough connections for all slots, have shown.
        def capacity_factor(setting)
          factor("rate", nearest(setting, @list.select { |each| !open?(each) && full?(each) }))
        end

        private

        def open?(correction)
          !correction["demand"]["rate"].nil?
        end

        def full?(correction)
          setting = Setting.new(**correction["setting"].transform_keys(&:to_sym))
          correction["demand"]["connections"] >= setting.processes * setting.slots
        end

        # [[distance in doublings, correction], …], all equally far.
        def nearest(setting, corrections)
          near = corrections.filter_map do |each|
            other = Setting.new(**each["setting"].transform_keys(&:to_sym))
            [distance(setting, other), each] if other.engine == setting.engine
          end
          least = near.map(&:first).min
          near.select { |distance, _| distance == least }
        end

        def distance(one, other)
          doublings(one.processes, other.processes) + doublings(one.threads || 1, other.threads || 1)
        end

        def doublings(one, other)
          Math.log2(one.fdiv(other)).abs
        end

        def factor(figure, near)
          logarithms = near.filter_map do |distance, each|
            ratio = ratio(each["measured"][figure], each["forecast"][figure])
            Math.log(ratio) * (0.5**distance) if ratio
          end
          logarithms.any? ? Math.exp(logarithms.sum / logarithms.length) : 1.0
        end

        def ratio(measured, forecast)
          return unless measured.is_a?(Numeric) && forecast.is_a?(Numeric) && measured.positive? && forecast.positive?

          (measured.to_f / forecast).clamp(1 / LIMIT, LIMIT)
        end
      end
    end
  end
end
