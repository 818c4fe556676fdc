# frozen_string_literal: true

module Cuttle
  module Load
    module Schedules
      # A connection's next request follows its last response.
      class Closed
        def name
          "closed"
        end

        def open?
          false
        end

        def steady?
          true
        end

        def poisson
          false
        end

        def length; end

        def to_h
          { "name" => name }
        end

        def to_s
          "closed loop"
        end
      end
    end
  end
end
