# frozen_string_literal: true

module Cuttle
  module Tuner
    # How the user's present setting stands beside the best one: for a check that passes or fails.
    class Standing
      # worse: the share of the capacity, or of the p95 at the target rate, that may be lost.
      def initialize(advice, worse:)
        @advice = advice
        @worse = worse
      end

      # Whether the present setting may stay.
      def good?
        reasons.empty?
      end

      # Whether no setting keeps the limits, so that nobody can do better.
      def hopeless?
        @advice.kind == :none
      end

      # Why it may not: lines.
      def reasons
        return [Report::Words.headline(@advice)] if %i[none fits].include?(@advice.kind)

        [capacity, tail].compact
      end

      private

      # Only a difference that was seen counts, so the end of its interval that is nearer to none.
      def capacity
        gain = @advice.gains&.[](:capacity) or return
        return if @advice.kind != :change || lost(gain.low || gain.value) <= @worse

        "#{@advice.choice.setting.name} serves #{Report::Words.gain(gain)} times what " \
          "#{@advice.present.setting.name} serves: more than #{Report::Words.percent(@worse)} are lost"
      end

      def tail
        gain = @advice.gains&.[](:p95) or return
        return if @advice.kind != :change || lost(1 / (gain.high || gain.value)) <= @worse

        "p95 with #{@advice.choice.setting.name} is #{Report::Words.gain(gain)} times that with " \
          "#{@advice.present.setting.name}: more than #{Report::Words.percent(@worse)} are lost"
      end

      # The share that is lost by what is so many times better.
      def lost(ratio)
        1 - (1 / ratio)
      end
    end
  end
end
