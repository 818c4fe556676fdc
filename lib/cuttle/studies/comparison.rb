# frozen_string_literal: true

module Cuttle
  module Studies
    # A published number beside ours of the same cell: both at full length.
    #
    #   entry, cell, metric
    #   published   a number, or [low, high] of what was published as a range
    #   ours        Lab's Estimate, or nil where it was not measured, or of too few responses for that percentile
    Comparison = Struct.new(:entry, :cell, :metric, :published, :ours, keyword_init: true) do
      # Ours by the published one, of a range by its middle.
      def ratio
        ours && (ours.value / (published.is_a?(Array) ? published.sum / 2 : published))
      end
    end
  end
end
