# frozen_string_literal: true

module Cuttle
  module Tuner
    # Compares a choice with the user's present setting: which kind of answer it is (see Advice), and what is gained.
    # Both are Outcomes. A measured difference counts if the lab's comparison finds it; a predicted one if it is larger
    # than the noise.
    class Verdict
      CHEAPER = 0.9 # share of the present memory; a setting that takes less is worth a change for that alone

      # present: the present Outcome, or nil. failure: why its runs failed, or nil. verified: Verified, or nil.
      # The block is called with a Setting and says whether the model finds the limit of the present -t auto too low
      # beside it.
      def initialize(present, limits:, failure: nil, verified: nil, &too_low)
        @present = present
        @limits = limits
        @failure = failure
        @verified = verified
        @too_low = too_low
      end

      def kind(choice)
        return :none if choice.excess(@limits).any?
        return :best unless @present
        return :change if @failure && choice.setting != @present.setting
        return :keep if choice.setting == @present.setting
        return :fits if @present.excess(@limits).any?
        return :change if more?(choice) || shorter?(choice)

        cheaper?(choice) ? :cheaper : :keep
      end

      # { capacity:, p95: }: choice / present, each an Estimate or nil; nil without two settings that work.
      def gains(choice)
        return if @present.nil? || @failure || choice.setting == @present.setting

        gains = %i[capacity p95].to_h do |measure|
          [measure, comparison(measure, choice)&.ratio || ratio(@present[measure], choice[measure])]
        end
        # The response times of an overloaded server depend on the length of the run.
        [@present, choice].any?(&:overloaded?) ? gains.merge(p95: nil) : gains
      end

      # The smallest difference in capacity that the verification would have detected for all of these Outcomes, or nil.
      def detectable(outcomes)
        outcomes.filter_map { |outcome| comparison(:capacity, outcome)&.detectable }.max
      end

      private

      # Whether the capacity is measurably higher, and useful. Capacity beyond the target rate and some headroom is not
      # useful.
      def more?(outcome)
        return false if @limits.rate && @present.capacity.value >= @limits.enough

        better?(:capacity, outcome) { outcome.capacity.value > @present.capacity.value * (1 + Ranking::CAPACITY) }
      end

      def shorter?(outcome)
        return false if outcome.overloaded? # its response times only show how long the run was

        better?(:p95, outcome) do
          [outcome, @present].all?(&:p95) && outcome.p95.value < @present.p95.value * (1 - Ranking::TAIL)
        end
      end

      # Whether the outcome is better by the lab's comparison if both were measured, and by the block otherwise. If the
      # comparison can't tell, a prediction that the limit of auto is too low counts.
      def better?(measure, outcome)
        return yield unless measured?(measure, outcome)

        found = comparison(measure, outcome)
        return found.better? unless found.nil? || found.undecided?

        @too_low.call(outcome.setting) && yield
      end

      def comparison(measure, outcome)
        return unless @present && measured?(measure, outcome) && outcome.setting != @present.setting

        @verified.compare(outcome.setting, @present.setting)[measure]
      end

      # Whether that measure of both settings was measured.
      def measured?(measure, outcome)
        [outcome, @present].all? { |each| measure == :capacity ? each.capacity_measured? : each.measured }
      end

      def cheaper?(outcome)
        outcome.memory && @present.memory && outcome.memory < @present.memory * CHEAPER
      end

      def ratio(one, other)
        values = [one, other].map { |each| each&.value }
        return unless values.all? { |value| value&.finite? } && values.first.positive?

        Lab::Statistics::Estimate.new(values.last / values.first, nil, nil, nil)
      end
    end
  end
end
