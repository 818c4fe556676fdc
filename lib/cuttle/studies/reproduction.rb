# frozen_string_literal: true

module Cuttle
  module Studies
    # A published number beside our own number for the same condition, both at full length.
    #
    #   entry, condition, metric
    #   published   a number; [low, high] if a range was published; nil if nothing was
    #   ours        a Lab Estimate; nil if it was not measured, or if there are too few responses for that percentile
    Reproduction = Struct.new(:entry, :condition, :metric, :published, :ours, keyword_init: true) do
      # Our number divided by the published one, or by the middle of a published range; nil if that is 0.
      def ratio
        ours && base&.positive? ? ours.value / base : nil
      end

      # The same with its interval: a Lab Estimate, or nil.
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
