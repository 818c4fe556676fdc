# frozen_string_literal: true

module Cuttle
  module Studies
    # The factor by which an experiment is made smaller. Waits and computing of the work app get shorter by that factor;
    # other apps get fewer requests. Rates and times are converted to full length, so that they can be compared with the
    # published ones. The time that a server adds to a request weighs more in a shorter request.
    Scale = Struct.new(:factor) do
      # The milliseconds to request from the app.
      def time(milliseconds)
        (milliseconds * factor).round(3)
      end

      # The number of requests if their length can't be scaled; at least two for each connection.
      def count(requests, connections)
        [(requests * factor).ceil, 2 * connections].max
      end

      def full?
        factor == 1
      end
    end
  end
end
