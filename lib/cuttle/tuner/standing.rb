# frozen_string_literal: true

module Cuttle
  module Tuner
    # How the user's present setting compares with the best one: for a check that passes or fails. It fails only if both
    # ends of an interval say so, because a figure near a border is on either side of it by chance.
    class Standing
      # worse: the share of the capacity, or of the p95 at the target rate, that may be lost.
      def initialize(advice, worse:)
        @advice = advice
        @worse = worse
      end

      # Whether nothing proves that the present setting is not good enough.
      def good?
        reasons.empty?
      end

      # Whether no setting keeps the limits.
      def hopeless?
        @advice.kind == :none && !good?
      end

      # Why the present setting is not good enough: lines.
      def reasons
        return [Report::Words.headline(@advice)] if @advice.failure || broken(:best).any?
        return [] if @advice.kind == :cheaper # no difference was detected

        losses.filter_map { |measure, (least, _)| "#{told(measure)}: #{excessive}" if least > @worse }
      end

      # What the intervals of a good setting leave open: lines.
      def doubts
        return [] unless good?

        limits = (broken(:worst) - broken(:best)).map do |name|
          figure = Report::LimitWords.undecided(present, name, @advice.limits)
          "whether #{present.setting.name} keeps a limit: #{figure}"
        end
        losses.select { |_, (least, most)| most > least && most > @worse }
              .map { |measure, _| "whether #{excessive}: #{told(measure)}" }
              .then { |shares| (limits + shares).map { |line| "can't tell #{line}" } }
      end

      private

      def present
        @advice.present || @advice.choice
      end

      # The limits that the present setting breaks at that end of its intervals.
      def broken(which)
        present.at(which).excess(@advice.limits).keys
      end

      # Measure => [the least, the most] that the present setting loses, as shares.
      def losses
        gains = @advice.gains.to_h
        { capacity: (ends(gains[:capacity]) || undetected)&.map { |ratio| lost([ratio, *useful].min) },
          p95: ends(gains[:p95])&.reverse&.map { |ratio| lost(1 / ratio) } }.compact
      end

      # The model's ratio is the same each time, so it has no other ends.
      def ends(gain)
        return unless gain
        return [gain.value, gain.value] if [present, @advice.choice].none?(&:measured)

        [gain.low || 0.0, gain.high || Float::INFINITY]
      end

      # The gains in capacity that the verification may have missed.
      def undetected
        [1.0, 1 + (@advice.detectable || Float::INFINITY)] if @advice.kind == :keep && present.measured
      end

      # The highest gain that counts with a target rate, or nil.
      def useful
        enough = @advice.limits.enough
        enough && (enough / present.capacity.value)
      end

      # The share that is lost without an improvement by that ratio.
      def lost(ratio)
        1 - (1 / ratio)
      end

      def excessive
        "more than #{Report::Values.percent(@worse)} is lost"
      end

      def told(measure)
        gain = @advice.gains&.[](measure) or return unseen
        gain, choice, have = Report::Values.gain(gain), @advice.choice.setting.name, present.setting.name
        return "p95 with #{choice} is #{gain} times that with #{have}" if measure == :p95

        "#{choice} serves #{gain} times as much as #{have}"
      end

      def unseen
        share = @advice.detectable or return "too little was measured"
        "only a difference of #{Report::Numbers.effect(share)} in capacity would have been detected"
      end
    end
  end
end
