# frozen_string_literal: true

module Cuttle
  module Tuner
    # How the user's present setting compares with the best one: for a check that passes or fails.
    class Standing
      # worse: the share of the capacity, or of the p95 at the target rate, that may be lost.
      def initialize(advice, worse:)
        @advice = advice
        @worse = worse
      end

      # Whether the present setting is good enough.
      def good?
        reasons.empty?
      end

      # Whether no setting keeps the limits.
      def hopeless?
        @advice.kind == :none
      end

      # Why the present setting is not good enough: lines.
      def reasons
        return [Report::Words.headline(@advice)] if @advice.failure || %i[none fits].include?(@advice.kind)

        [capacity, tail].compact
      end

      private

      # Only a detected difference counts, so this uses the end of its interval that is nearer to no difference.
      def capacity
        gain = @advice.gains&.[](:capacity) or return
        return if @advice.kind != :change || lost([gain.low || gain.value, *useful].min) <= @worse

        "#{@advice.choice.setting.name} serves #{Report::Words.gain(gain)} times as much as " \
          "#{@advice.present.setting.name}: more than #{Report::Words.percent(@worse)} is lost"
      end

      # The highest gain that counts with a target rate, or nil.
      def useful
        enough = @advice.limits.enough
        enough && (enough / @advice.present.capacity.value)
      end

      def tail
        gain = @advice.gains&.[](:p95) or return
        return if @advice.kind != :change || lost(1 / (gain.high || gain.value)) <= @worse

        "p95 with #{@advice.choice.setting.name} is #{Report::Words.gain(gain)} times that with " \
          "#{@advice.present.setting.name}: more than #{Report::Words.percent(@worse)} is lost"
      end

      # The share that is lost without an improvement by that ratio.
      def lost(ratio)
        1 - (1 / ratio)
      end
    end
  end
end
