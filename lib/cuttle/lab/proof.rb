# frozen_string_literal: true

module Cuttle
  module Lab
    # That a server's setting took effect: what was wanted, what was found, and how that was seen. Found is nil where
    # nothing could be seen; proved is nil where there is nothing to be proved, and only written down.
    Proof = Struct.new(:setting, :wanted, :found, :proved, :how) do
      # Proved where what was found is what was wanted.
      def self.same(setting, wanted, found, how)
        new(setting, wanted, found, wanted == found, how)
      end

      # Neither proved nor refuted.
      def self.seen(setting, wanted, found, how)
        new(setting, wanted, found, nil, how)
      end

      # Proved where at least as much was found: a server may have threads of its own beside those of the app.
      def self.at_least(setting, wanted, found, how)
        new(setting, wanted, found, !found.nil? && found >= wanted, how)
      end
    end
  end
end
