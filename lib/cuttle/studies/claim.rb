# frozen_string_literal: true

module Cuttle
  module Studies
    # A published claim as statements that can be measured, each a ratio and where it has to lie; or why it can't be
    # tested here.
    class Claim
      # A metric ("rate", "p90") of the published rows that have this id and these columns.
      Figure = Struct.new(:metric, :id, :columns) do
        def to_s
          "#{metric} of #{id}#{columns.map { |name, value| " #{name} #{value}" }.join(",")}"
        end
      end

      # That +above+ / +below+ lies in range. text: what that means. below: a Figure, or a number. apart: whether it is
      # of the larger by the smaller in each block; of a Figure and itself, by blocks that follow each other.
      Statement = Struct.new(:text, :above, :below, :range, :apart) do
        def figures
          [above, below].grep(Figure)
        end

        # :confirmed where the interval leaves no doubt, :refuted where it leaves no hope.
        def verdict(estimate)
          return :undecided unless estimate&.interval?
          return :confirmed if range.cover?(estimate.low) && range.cover?(estimate.high)

          outside?(estimate) ? :refuted : :undecided
        end

        def to_s
          "#{above} / #{below} #{bounds}"
        end

        def bounds
          return "above #{range.begin}" unless range.end
          return "below #{range.end}" unless range.begin

          "#{range.begin} to #{range.end}"
        end

        private

        def outside?(estimate)
          (range.begin && estimate.high < range.begin) || (range.end && estimate.low > range.end)
        end
      end

      # What a claim can be tried on: our core with the model of then, and the servers of then.
      SIDES = %i[ours originals].freeze

      attr_reader :id, :text, :statements, :sides

      # reason: why it can't be tested at all, or nil. cores: that the servers must have for it. on: one of SIDES, where
      # it says nothing of the other. Raises ArgumentError.
      def initialize(id, text, statements: [], reason: nil, cores: 1, on: nil)
        @id = id
        @text = text
        @statements = statements.freeze
        @reason = reason
        @cores = cores
        @sides = on ? [on] : SIDES
        raise ArgumentError, "#{id}: on: #{on.inspect} is none of #{SIDES.inspect}" unless (@sides - SIDES).empty?

        freeze
      end

      # Why it can't be tested where servers have so many cores, or nil.
      def reason(cores)
        @reason || ("it takes #{@cores} cores for the servers, and there were #{cores}" if cores < @cores)
      end

      # Published ids that it is about.
      def ids
        [id, *statements.flat_map(&:figures).map(&:id)].uniq
      end

      # Of all its statements' verdicts: one that is refuted refutes it.
      def verdict(verdicts)
        return :refuted if verdicts.include?(:refuted)

        verdicts.all?(:confirmed) ? :confirmed : :undecided
      end
    end
  end
end
