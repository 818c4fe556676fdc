# frozen_string_literal: true

module Cuttle
  module Studies
    # A published number beside ours of the same condition: both at full length.
    #
    #   entry, condition, metric
    #   published   a number, or [low, high] of what was published as a range; nil of what was not published
    #   ours        Lab's Estimate, or nil where it was not measured, or of too few responses for that percentile
    Reproduction = Struct.new(:entry, :condition, :metric, :published, :ours, keyword_init: true) do
      # Ours by the published one, of a range by its middle; nil where that is 0.
      def ratio
        ours && base&.positive? ? ours.value / base : nil
      end

      # The same with its interval: Lab's Estimate, or nil.
      def estimate
        return unless ratio

        ratios = [ours.value, ours.low, ours.high].map { |each| each && (each / base) }
        Lab::Statistics::Estimate.new(*ratios, ours.count)
      end

      private

      def base
        published.is_a?(Array) ? published.sum / 2 : published
      end
    end
  end
end
