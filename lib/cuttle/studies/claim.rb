# frozen_string_literal: true

module Cuttle
  module Studies
    # A published claim, as statements that can be measured (each a ratio and the range where it has to lie), or with
    # the reason why it can't be tested here.
    class Claim
      # A metric ("rate", "p90") of the published rows with this id and these columns.
      Figure = Struct.new(:metric, :id, :columns) do
        def to_s
          "#{metric} of #{id}#{columns.map { |name, value| " #{name} #{value}" }.join(",")}"
        end
      end

      # States that +above+ / +below+ lies in range. text: its meaning. below: a Figure or a number. apart: the larger
      # divided by the smaller in each round; for a Figure and itself, from each round to the next.
      Statement = Struct.new(:text, :above, :below, :range, :apart) do
        def figures
          [above, below].grep(Figure)
        end

        # :confirmed if the whole interval lies in the range, :refuted if it lies wholly outside.
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

      # Where a claim can be tested: on our core with the published model, or on the published servers.
      SIDES = %i[ours originals].freeze

      attr_reader :id, :text, :statements, :sides, :cores

      # reason: why it can't be tested at all, or nil. cores: number of server cores that it needs. on: one of SIDES, if
      # it is about that side only. Raises ArgumentError.
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

      # Why it can't be tested with that many server cores, or nil.
      def reason(cores)
        @reason || ("it takes #{@cores} cores for the servers, and there were #{cores}" if short?(cores))
      end

      # Whether that many server cores are too few, and nothing else is in the way.
      def short?(cores)
        @reason.nil? && cores < @cores
      end

      # The published ids that it is about.
      def ids
        [id, *statements.flat_map(&:figures).map(&:id)].uniq
      end

      # The verdict of all its statements: one refuted statement refutes the claim.
      def verdict(verdicts)
        return :refuted if verdicts.include?(:refuted)

        verdicts.all?(:confirmed) ? :confirmed : :undecided
      end
    end
  end
end
