# frozen_string_literal: true

module Cuttle
  module Studies
    # A published claim, as statements that can be measured (each a ratio and its expected range), or with the reason
    # why it can't be tested here.
    class Claim
      # A ratio that is certainly within this factor of a bound is at the border.
      BORDER = 1.05

      # A metric ("rate", "p90") of the published rows with this id and these columns.
      Figure = Struct.new(:metric, :id, :columns) do
        # 50 for p50; nil if the metric is not a percentile.
        def percentile
          Metric.fetch(metric).percentile
        end

        def to_s
          "#{metric} of #{id}#{columns.map { |name, value| " #{name} #{value}" }.join(",")}"
        end
      end

      # States that +above+ / +below+ is in +range+. text: its meaning. below: a Figure or a number. apart: the ratio is
      # the larger value / the smaller one in each round; for a Figure and itself, from each round to the next. cores:
      # number of server cores that it needs, if its claim needs fewer; or nil.
      Statement = Struct.new(:text, :above, :below, :range, :apart, :cores) do
        def figures
          [above, below].grep(Figure)
        end

        # Whether it states a bound for a share of errors.
        def of_errors?
          above.metric == "errors" && below.is_a?(Numeric)
        end

        # :confirmed if the whole interval is in the range, :refuted if it is completely outside. :border if the
        # interval is so narrow that the true ratio is next to a bound, on either side.
        def verdict(estimate)
          return :undecided unless estimate&.interval?
          return :confirmed if range.cover?(estimate.low) && range.cover?(estimate.high)
          return :refuted if outside?(estimate)

          at_border?(estimate) ? :border : :undecided
        end

        # Whether that many server cores are too few for it.
        def short?(number)
          !cores.nil? && number < cores
        end

        # Why it can't be tested with that many server cores, or nil.
        def reason(number)
          "it needs #{cores} server cores" if short?(number)
        end

        def to_s
          "#{above} / #{below} #{bounds}"
        end

        # "above 2", "0.9 to 1.1". The block gives the text of a bound.
        def bounds(&text)
          first, last = [range.begin, range.end].map { |bound| bound && (text ? text.call(bound) : bound) }
          return "above #{first}" unless last
          return "below #{last}" unless first

          "#{first} to #{last}"
        end

        private

        def at_border?(estimate)
          [range.begin, range.end].compact.any? do |bound|
            estimate.low >= bound / BORDER && estimate.high <= bound * BORDER
          end
        end

        def outside?(estimate)
          (range.begin && estimate.high < range.begin) || (range.end && estimate.low > range.end)
        end
      end

      # Where a claim can be tested: on Cuttle with the published model, or on the published servers.
      SIDES = %i[ours originals].freeze

      attr_reader :id, :text, :statements, :sides, :cores, :about

      # reason: why it can't be tested at all, or nil. cores: number of server cores that it needs. on: one of SIDES, if
      # it is only about that side. about: a server that is not available, if the claim is about it; Cuttle then
      # shows what the model does. published: whether others published it. Raises ArgumentError.
      def initialize(id, text, statements: [], reason: nil, cores: 1, on: nil, about: nil, published: false)
        @id = id
        @text = text
        @statements = statements.freeze
        @reason = reason
        @cores = cores
        @about = about
        @published = published
        @sides = on ? [on] : SIDES
        raise ArgumentError, "#{id}: on: #{on.inspect} is none of #{SIDES.inspect}" unless (@sides - SIDES).empty?

        freeze
      end

      def published?
        @published
      end

      # Why it can't be tested on a server that is not available, or nil.
      def gone
        "it is about #{about}" if about
      end

      # The claim on the one side that decides it: on the original servers, if they are among its conditions.
      def decisive
        Claim.new(id, text, statements: statements, reason: @reason || gone, cores: cores, on: sides.last,
                            published: published?)
      end

      # Why it can't be tested with that many server cores, or nil.
      def reason(cores)
        return @reason unless short?(cores)

        "it needs #{@cores} server cores; the servers had #{cores}"
      end

      # Whether that many server cores are too few, and nothing else prevents the test.
      def short?(cores)
        @reason.nil? && cores < @cores
      end

      # The server cores that all of its statements need.
      def most_cores
        [cores, *statements.filter_map(&:cores)].max
      end

      # The published ids that the claim is about.
      def ids
        [id, *statements.flat_map(&:figures).map(&:id)].uniq
      end

      # The confidence of each statement's interval. All intervals together hold with 95% (Bonferroni), so that a claim
      # of many statements is not refuted by chance.
      def confidence
        1 - ((1 - Lab::Statistics::CONFIDENCE) / [statements.length, 1].max)
      end

      # The verdict on the claim, from the verdicts on its statements.
      def verdict(verdicts)
        return verdicts.first if verdicts.uniq.length == 1
        return :partly_refuted if verdicts.include?(:refuted)

        verdicts.include?(:confirmed) ? :partly_confirmed : :undecided
      end
    end
  end
end
