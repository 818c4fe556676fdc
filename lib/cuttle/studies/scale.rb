# frozen_string_literal: true

module Cuttle
  module Studies
    # How much smaller an experiment is made: waits and computing by the work app are that much shorter, and of all else
    # there is that much less. Rates and times are told as they would be at full length, so that they can stand beside the
    # published ones; what a server adds to a request weighs more on a shorter one.
    Scale = Struct.new(:factor) do
      # Milliseconds that the app is asked for.
      def time(milliseconds)
        (milliseconds * factor).round(3)
      end

      # Requests of a kind whose length is not the app's to choose; enough for every connection to have some.
      def count(requests, connections)
        [(requests * factor).ceil, 2 * connections].max
      end

      def full?
        factor == 1
      end
    end
  end
end
